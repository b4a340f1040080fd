//! Where edits are made: the files, and how a place in them is chosen.

use std::ops::Range;

use layercake::yaml::{Node, Value};

use super::super::random::Random;
use super::super::text::{parsed, replaced, stretches, with_entry, with_item, with_value};
use super::super::{Files, Text};

/// Files with their new texts; none where the file goes.
pub type Changed = Vec<(Text, Option<Text>)>;

/// The files, and what chooses in them.
pub struct Workshop<'a> {
    pub files: &'a Files,
    pub random: &'a mut Random,
}

/// A document that was chosen.
pub struct Picked {
    pub path: Text,
    pub text: Text,
    pub root: Node,
    /// From its first token to the next document.
    pub stretch: Range<usize>,
}

impl Workshop<'_> {
    /// Any YAML file of a layer.
    pub fn file(&mut self) -> Option<(Text, Text)> {
        let files: Vec<_> = self.files.iter().filter(|(path, _)| is_of_layer(path)).collect();
        self.random.of(&files).map(|(path, text)| ((*path).clone(), (*text).clone()))
    }

    /// A document of which `wanted` holds, if one is found soon.
    pub fn pick(&mut self, wanted: impl Fn(&Node) -> bool) -> Option<Picked> {
        const TRIES: usize = 80;
        (0..TRIES).find_map(|_| {
            let (path, text) = self.file()?;
            let documents = parsed(&path, &text).documents;
            let stretches = stretches(&text, &documents);
            let wanted: Vec<usize> =
                (0..documents.len()).filter(|index| wanted(&documents[*index].root)).collect();
            let index = *self.random.of(&wanted)?;
            let (root, stretch) = (documents[index].root.clone(), stretches[index].clone());
            Some(Picked { path, text, root, stretch })
        })
    }

    /// A document that a site could render, or use.
    pub fn document(&mut self) -> Option<Picked> {
        self.pick(|root| root.get("metadata").is_some() && !is_definition(root))
    }

    /// One of the nodes in `node`, itself included, of which `wanted` holds.
    pub fn node(&mut self, node: &Node, wanted: impl Fn(&Node) -> bool) -> Option<Node> {
        let mut found = Vec::new();
        visit(node, &mut |node| {
            if wanted(node) {
                found.push(node.clone());
            }
        });
        self.random.of(&found).cloned()
    }
}

/// Whether a file is one of a layer, and no configuration.
fn is_of_layer(path: &str) -> bool {
    let is_yaml = path.ends_with(".yaml");
    is_yaml && ["global/", "type/", "site/"].iter().any(|layer| path.starts_with(layer))
}

/// Whether a document says what a site is, or what the layers are: edits of
/// these are kinds of their own.
pub fn is_definition(root: &Node) -> bool {
    let schema = root.get("schema").and_then(Node::as_str).unwrap_or_default();
    schema.starts_with("pegleg/SiteDefinition") || schema.starts_with("deckhand/LayeringPolicy")
}

fn visit(node: &Node, see: &mut dyn FnMut(&Node)) {
    see(node);
    match &node.value {
        Value::Mapping(mapping) => {
            for node in mapping.values() {
                visit(node, see);
            }
        }
        Value::Sequence(items) => {
            for node in items.iter() {
                visit(node, see);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_)
        | Value::Pairs(_)
        | Value::String(_) => {}
    }
}

impl Picked {
    /// The value at keys below the root.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(&self.root, |node, key| node.get(key))
    }

    /// The text at keys below the root.
    pub fn word(&self, keys: &[&str]) -> &str {
        self.at(keys).and_then(Node::as_str).unwrap_or_default()
    }

    /// The change that gives its file this text.
    pub fn become_text(&self, text: Text) -> Changed {
        vec![(self.path.clone(), Some(text))]
    }

    /// The change that puts another value in the place of `node`.
    pub fn with(&self, node: &Node, value: &str) -> Changed {
        self.become_text(with_value(&self.text, node, value))
    }

    /// The change that sets the last of `keys`, below the others, which are
    /// there.
    pub fn set(&self, keys: &[&str], value: &str) -> Option<Changed> {
        if let Some(node) = self.at(keys) {
            return Some(self.with(node, value));
        }
        let (key, around) = keys.split_last()?;
        let text = with_entry(&self.text, self.at(around)?, key, value)?;
        Some(self.become_text(text))
    }

    /// The change that puts one more item in front of a list below the root,
    /// which comes where it is not there.
    pub fn put_first(&self, keys: &[&str], item: &str) -> Option<Changed> {
        let items = self.at(keys).and_then(Node::as_sequence).unwrap_or_default();
        match self.at(keys) {
            Some(list) if !items.is_empty() => {
                let text = with_item(&self.text, list, 0, item)?;
                Some(self.become_text(text))
            }
            Some(_) | None => self.set(keys, &format!("[{item}]")),
        }
    }

    /// Its text.
    pub fn own_text(&self) -> &str {
        &self.text[self.stretch.clone()]
    }

    /// The text of its file without it.
    pub fn text_without(&self) -> Text {
        replaced(&self.text, self.stretch.clone(), "")
    }

    /// The same document with another value at keys below the root, as text.
    pub fn own_text_with(&self, changes: &[(&[&str], &str)]) -> Option<String> {
        let mut text = self.own_text().to_owned();
        for (keys, value) in changes {
            let root = parsed(&self.path, &text).documents.into_iter().next()?.root;
            let node = keys.iter().try_fold(&root, |node, key| node.get(key))?;
            text = with_value(&text, node, value).to_string();
        }
        Some(text)
    }
}
