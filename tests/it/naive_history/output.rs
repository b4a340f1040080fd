//! Outputs, and how those of two commits correspond.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use layercake::report::canonical;
use layercake::source::DocKey;
use layercake::yaml::{Node, parse};

use super::log::{Log, any_file};
use super::state::{Inputs, Rendered};
use super::value::{at, values};

/// An output; without data if it could not be rendered.
pub struct Output {
    pub schema: String,
    pub name: String,
    pub layer: String,
    pub data: Option<Arc<Node>>,
}

/// Index of the `base` output that corresponds to each output of `head`: it has the same schema and
/// name, or was renamed.
pub fn matched(log: &Log, head: &Rendered, base: &Rendered) -> Vec<Option<usize>> {
    let [above, below] = [&head.outputs, &base.outputs];
    let same = above.iter().map(|output| output.same_in(above, below));
    let mut matches: Vec<Option<usize>> = same.collect();
    let came = (0..above.len()).filter(|at| matches[*at].is_none());
    let went = (0..below.len()).filter(|at| !matches.contains(&Some(*at)));
    let came: Vec<_> = came
        .map(|at| (at, Written::find(log, &head.inputs, &above[at])))
        .collect();
    let went: Vec<_> = went
        .map(|at| (at, Written::find(log, &base.inputs, &below[at])))
        .collect();
    let pairs = came
        .iter()
        .flat_map(|one| went.iter().map(move |other| (one, other)));
    let mut alike: Vec<(usize, usize, usize)> = pairs
        .filter(|((at, _), (base_at, _))| above[*at].is_of_kind(&below[*base_at]))
        .filter_map(|((at, one), (base_at, other))| {
            Some((one.as_ref()?.likeness(other.as_ref()?)?, *at, *base_at))
        })
        .collect();
    alike.sort_by_key(|(likeness, ..)| Reverse(*likeness));
    for (_, at, base_at) in alike {
        if matches[at].is_none() && !matches.contains(&Some(base_at)) {
            matches[at] = Some(base_at);
        }
    }
    matches
}

impl Output {
    /// Output that could not be rendered.
    pub fn missing(key: &DocKey) -> Self {
        let [schema, name, layer] = [&key.schema, &key.name, &key.layer].map(ToString::to_string);
        Self {
            schema,
            name,
            layer,
            data: None,
        }
    }

    pub fn key(&self) -> [String; 3] {
        [&self.schema, &self.name, &self.layer].map(Clone::clone)
    }

    fn is_named_as(&self, other: &Self) -> bool {
        self.schema == other.schema && self.name == other.name
    }

    /// Output of the same schema and name; among several, that of the same layer.
    fn same_in(&self, head: &[Self], base: &[Self]) -> Option<usize> {
        let is_several = head.iter().filter(|other| self.is_named_as(other)).count() > 1;
        let named: Vec<usize> = (0..base.len())
            .filter(|at| self.is_named_as(&base[*at]))
            .collect();
        match named[..] {
            [only] if !is_several => Some(only),
            _ => named.into_iter().find(|at| base[*at].layer == self.layer),
        }
    }

    fn is_of_kind(&self, other: &Self) -> bool {
        self.schema == other.schema && self.layer == other.layer
    }
}

/// Source document of an output.
struct Written {
    /// Layer, path in its folder, and index in the file.
    place: (&'static str, Arc<str>, usize),
    /// Public values in its data.
    values: BTreeSet<(String, String)>,
}

impl Written {
    fn find(log: &Log, inputs: &Inputs, output: &Output) -> Option<Self> {
        let files = inputs.folders().flat_map(|(layer, folder)| {
            folder
                .iter()
                .map(move |(path, (_, content))| (layer, path, log.text(*content)))
        });
        let with_name = files.filter(|(.., text)| text.contains(&output.name));
        let documents = with_name.flat_map(|(layer, path, text)| {
            let documents = parse(any_file(), text).documents.into_iter().enumerate();
            documents.map(move |(number, it)| ((layer, Arc::clone(path), number), it.root))
        });
        let is_written = |(_, root): &(_, Node)| {
            let text = |pointer| at(root, pointer).and_then(Node::as_str);
            text("/schema") == Some(&output.schema)
                && text("/metadata/name") == Some(&output.name)
                && text("/metadata/layeringDefinition/layer").unwrap_or_default() == output.layer
        };
        let (place, root) = { documents }.find(is_written)?;
        Some(Self {
            place,
            values: Self::public_values(&root, output),
        })
    }

    fn public_values(root: &Node, output: &Output) -> BTreeSet<(String, String)> {
        let policy = at(root, "/metadata/storagePolicy").and_then(Node::as_str);
        let is_secret = output
            .data
            .as_ref()
            .map_or(policy == Some("encrypted"), |it| it.secret);
        let is_empty = |data: &Node| ["null", "{}", "[]"].contains(&canonical(data).as_str());
        let data = root
            .get("data")
            .filter(|data| !is_secret && !is_empty(data));
        let Some(data) = data else {
            return BTreeSet::new();
        };
        let text = |pointer: &str| at(data, pointer).map(canonical).unwrap_or_default();
        values(data)
            .into_iter()
            .map(|pointer| (text(&pointer), pointer))
            .collect()
    }

    /// Millionths of the values that are the same, if at least half are. Documents without values
    /// are similar if they have the same path.
    fn likeness(&self, other: &Self) -> Option<usize> {
        let most = self.values.len().max(other.values.len());
        if most == 0 {
            return (self.place == other.place).then_some(1_000_000);
        }
        let likeness = self.values.intersection(&other.values).count() * 1_000_000 / most;
        (likeness >= 500_000).then_some(likeness)
    }
}
