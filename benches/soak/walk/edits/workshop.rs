//! Context of edits: the files, and the choice of locations in them.

use std::ops::Range;

use layercake::yaml::{Node, Value};

use super::super::random::Random;
use super::super::text::{parsed, replaced, stretches, with_entry, with_item, with_value};
use super::super::{Files, Text};

/// Changed files with their new texts; `None` for removed files.
pub type Changed = Vec<(Text, Option<Text>)>;

/// Files, and the random choices in them.
pub struct Workshop<'a> {
    pub files: &'a Files,
    pub random: &'a mut Random,
}

/// A chosen document.
pub struct Picked {
    pub path: Text,
    pub text: Text,
    pub root: Node,
    /// Range from its first token to the next document.
    pub stretch: Range<usize>,
}

impl Workshop<'_> {
    /// Chooses a YAML file of a layer.
    pub fn file(&mut self) -> Option<(Text, Text)> {
        let files: Vec<_> = self
            .files
            .iter()
            .filter(|(path, _)| is_of_layer(path))
            .collect();
        self.random
            .of(&files)
            .map(|(path, text)| ((*path).clone(), (*text).clone()))
    }

    /// Chooses a document that satisfies `wanted`; gives up after some attempts.
    pub fn pick(&mut self, wanted: impl Fn(&Node) -> bool) -> Option<Picked> {
        const TRIES: usize = 80;
        (0..TRIES).find_map(|_| {
            let (path, text) = self.file()?;
            let documents = parsed(&path, &text).documents;
            let stretches = stretches(&text, &documents);
            let wanted: Vec<usize> = (0..documents.len())
                .filter(|index| wanted(&documents[*index].root))
                .collect();
            let index = *self.random.of(&wanted)?;
            let (root, stretch) = (documents[index].root.clone(), stretches[index].clone());
            Some(Picked {
                path,
                text,
                root,
                stretch,
            })
        })
    }

    /// Chooses a document that a site could render or use.
    pub fn document(&mut self) -> Option<Picked> {
        self.pick(|root| root.get("metadata").is_some() && !is_definition(root))
    }

    /// Chooses a descendant of `node`, or itself, that satisfies `wanted`.
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

/// Whether a file belongs to a layer, and is not a configuration.
fn is_of_layer(path: &str) -> bool {
    let is_yaml = path.ends_with(".yaml");
    is_yaml
        && ["global/", "type/", "site/"]
            .iter()
            .any(|layer| path.starts_with(layer))
}

/// Whether a document defines a site or the layers; edits of these have kinds of their own.
pub fn is_definition(root: &Node) -> bool {
    let schema = root
        .get("schema")
        .and_then(Node::as_str)
        .unwrap_or_default();
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
    /// Value at the path `keys` from the root.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(&self.root, |node, key| node.get(key))
    }

    /// String at the path `keys` from the root.
    pub fn word(&self, keys: &[&str]) -> &str {
        self.at(keys).and_then(Node::as_str).unwrap_or_default()
    }

    /// Change that sets the text of the file.
    pub fn become_text(&self, text: Text) -> Changed {
        vec![(self.path.clone(), Some(text))]
    }

    /// Change that replaces `node`.
    pub fn with(&self, node: &Node, value: &str) -> Changed {
        self.become_text(with_value(&self.text, node, value))
    }

    /// Change that sets the value at `keys`; its parent must exist.
    pub fn set(&self, keys: &[&str], value: &str) -> Option<Changed> {
        if let Some(node) = self.at(keys) {
            return Some(self.with(node, value));
        }
        let (key, around) = keys.split_last()?;
        let text = with_entry(&self.text, self.at(around)?, key, value)?;
        Some(self.become_text(text))
    }

    /// Change that inserts an item at the start of the list at `keys`, which is created if missing.
    pub fn put_first(&self, keys: &[&str], item: &str) -> Option<Changed> {
        let items = self
            .at(keys)
            .and_then(Node::as_sequence)
            .unwrap_or_default();
        match self.at(keys) {
            Some(list) if !items.is_empty() => {
                let text = with_item(&self.text, list, 0, item)?;
                Some(self.become_text(text))
            }
            Some(_) | None => self.set(keys, &format!("[{item}]")),
        }
    }

    /// Text of the document.
    pub fn own_text(&self) -> &str {
        &self.text[self.stretch.clone()]
    }

    /// Text of the file without the document.
    pub fn text_without(&self) -> Text {
        replaced(&self.text, self.stretch.clone(), "")
    }

    /// Text of the document with other values at the given keys.
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
