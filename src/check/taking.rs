//! Edits that take something away, such as a document, a label or a key: findings about its absence
//! follow from them.

use crate::edit::{Edit, EditId, EditKind, Part, RenamedKeys, Text};
use crate::source::SourceMap;
use crate::triage::TakingEdit;
use crate::yaml::Node;
use crate::yaml::path::Location;

/// Whether an edit takes something away that others may need.
pub(super) fn takes_away(edit: &Edit) -> bool {
    match edit.kind {
        EditKind::Renamed | EditKind::Moved | EditKind::Policy => true,
        EditKind::Key | EditKind::Document => edit.head.is_none(),
        EditKind::Value => {
            let is_collection = |text: &Option<Text>| {
                let node = text.as_ref().and_then(|text| text.node.as_ref());
                node.is_some_and(Node::is_collection)
            };
            match edit.part {
                Part::Metadata => edit.location.first_key() != Some("substitutions"),
                Part::Root => true,
                Part::Data => is_collection(&edit.base) && !is_collection(&edit.head),
                Part::Whole => false,
            }
        }
        // Another site type is a decision, after which each finding is to be fixed.
        EditKind::Site | EditKind::SiteAdded | EditKind::SiteRemoved => false,
        EditKind::Order | EditKind::File | EditKind::Repository => false,
    }
}

/// Describes an edit that takes something away.
pub(super) fn taking_edit<'e>(
    id: EditId,
    edits: &'e [Edit],
    renamed: &'e RenamedKeys,
    sources: &'e SourceMap,
) -> Option<TakingEdit<'e>> {
    let edit = &edits[id.index()];
    let renamed = renamed.new_of(id).map(|added| &edits[added.index()]);
    let texts = edit.base.iter().chain(&edit.head);
    takes_away(edit).then(|| TakingEdit {
        files: texts.map(|text| sources.path_of(text.at)).collect(),
        schema: edit.document.schema.clone(),
        head: edit.head.as_ref(),
        is_policy: edit.kind == EditKind::Policy,
        is_relation: edit.part == Part::Metadata && edit.kind != EditKind::Renamed,
        help: Box::new(move |needed| help(edit, renamed, needed)),
    })
}

/// Remedy for places that need what an edit takes away; `renamed` added it under another key.
fn help(edit: &Edit, renamed: Option<&Edit>, needed: usize) -> String {
    let subject = subject(edit);
    let places = match needed {
        0 | 1 => "the place that needs it".to_owned(),
        _ => format!("the {needed} places that need it"),
    };
    if edit.is_secret() {
        return format!("restore what an edit removed, or change {places}");
    }
    match (values(edit), renamed.map(self::subject)) {
        (Some([before, after]), _) if subject.starts_with("metadata.labels") => {
            let documents = if needed > 1 {
                format!("{needed} documents")
            } else {
                "1 document".into()
            };
            format!(
                "an edit changed this label from `{before}` to `{after}`: select \
                 `{after}` in {documents}, or change it back"
            )
        }
        (Some([before, after]), _) => format!(
            "an edit changed `{subject}` from `{before}` to `{after}`: change it back, \
             or change {places}"
        ),
        (None, Some(new)) => {
            format!("an edit renamed `{subject}` to `{new}`: rename it back, or change {places}")
        }
        (None, None) if edit.head.is_none() => {
            format!("an edit removed `{subject}`: restore it, or change {places}")
        }
        (None, None) => {
            format!("an edit changed `{subject}`: change it back, or change {places}")
        }
    }
}

/// The strings before and after an edit of a string.
fn values(edit: &Edit) -> Option<[&str; 2]> {
    fn text(text: Option<&Text>) -> Option<&str> {
        text?.node.as_ref()?.as_str()
    }
    Some([text(edit.base.as_ref())?, text(edit.head.as_ref())?])
}

/// Path of the edited value, or the name of the edited document.
fn subject(edit: &Edit) -> String {
    let location = |location: &Location| location.to_string();
    match edit.part {
        Part::Whole => edit.document.name.to_string(),
        Part::Data | Part::Root => location(&edit.location),
        Part::Metadata => format!("metadata{}", location(&edit.location)),
    }
}
