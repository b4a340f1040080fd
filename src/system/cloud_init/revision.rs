//! Parts as single values, so that any difference between two can be applied or left out.

use std::sync::Arc;

use super::part::CloudPart;
use crate::source::{Span, Spanned};
use crate::yaml::{Key, Mapping, Node, Value};

const DATA: &str = "data";
const METADATA: &str = "metadata";
const TYPE: &str = "type";
/// Key for whichever of the two merge headers is in effect.
const HEADER: &str = "Merge-Type";

impl CloudPart {
    /// The whole part as one value: content, type and effective merge header.
    pub(crate) fn root(&self) -> Node {
        let here = Span::point(self.at.file, self.at.start);
        let kind = Node::new(Value::String(self.kind.as_str().into()), self.at);
        let header = self.header.iter().map(|header| {
            let text = Value::String(header.value.clone().into());
            (
                Key::string(HEADER, header.span),
                Node::new(text, header.span),
            )
        });
        let metadata = std::iter::once((Key::string(TYPE, here), kind)).chain(header);
        let metadata = mapping(metadata.collect(), self.at);
        let metadata = if self.data.secret {
            metadata.into_secret()
        } else {
            metadata
        };
        let entries = [(METADATA, metadata), (DATA, self.data.clone())]
            .map(|(key, node)| (Key::string(key, here), node));
        mapping(entries.into_iter().collect(), self.span)
    }

    /// The part described by `root`, which was combined from the roots of `base` and `head`.
    pub(crate) fn revised(base: &CloudPart, head: &CloudPart, root: &Node) -> CloudPart {
        let metadata = root.get(METADATA);
        let kind = metadata.and_then(|it| it.get(TYPE)).and_then(Node::as_str);
        let of_kind = if kind == Some(base.kind.as_str()) {
            base
        } else {
            head
        };
        let header = metadata.and_then(|it| it.get(HEADER)).and_then(|node| {
            let Value::String(text) = &node.value else {
                return None;
            };
            Some(Spanned::new(text.clone().into(), node.span))
        });
        let data = root.get(DATA).unwrap_or(&of_kind.data).clone();
        let kind = of_kind.kind.clone();
        CloudPart {
            kind,
            header,
            data,
            ..head.clone()
        }
    }
}

fn mapping(entries: Mapping, span: Span) -> Node {
    Node::new(Value::Mapping(Arc::new(entries)), span)
}
