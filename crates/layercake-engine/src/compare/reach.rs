//! From an edit to what it reached: over all sites, equal changes together,
//! with the lines that stopped it elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake_source::{DocKey, FileId, Span};
use layercake_yaml::diff::{self, Difference};
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Size, emit};

use super::{Change, Proof, Status};
use crate::edit::{Edit, EditId};

/// What changed between two sides.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The edits, by number.
    pub edits: Vec<EditReach>,
    /// The outputs that changed, by schema, name, layer and site.
    pub outputs: Vec<Change>,
    /// Outputs that changed alike, as indexes into `outputs`; each is in one
    /// group. In the order of their first outputs.
    pub groups: Vec<Group>,
    /// Every site that is there on one of the sides, by name.
    pub sites: Vec<SiteReach>,
    /// What is not listed.
    pub unlisted: Unlisted,
}

/// How much of what changed is not listed, as it is too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Outputs that changed.
    pub outputs: usize,
    /// Edits that changed a listed output, for all of these.
    pub causes: usize,
    /// Lines that stop edits.
    pub shields: usize,
}

/// One edit and what came of it.
#[derive(Debug)]
pub struct EditReach {
    /// The edit.
    pub edit: Edit,
    /// The outputs it changed, as indexes into [`Comparison::outputs`].
    pub outputs: Vec<usize>,
    /// The sites they are in, by name.
    pub sites: Vec<Arc<str>>,
    /// How many of the outputs are written in files that nobody edited.
    pub untouched: usize,
    /// What stopped it, by site.
    pub shields: Vec<Shield>,
    /// How sure that is; none for an inert edit, which changed nothing.
    pub proof: Option<Proof>,
}

/// What kept an edit from an output.
#[derive(Clone, Debug)]
pub struct Shield {
    /// The site; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// The document at which it stopped.
    pub document: DocKey,
    /// Where in its data.
    pub location: Location,
    /// The text that stopped it.
    pub by: Span,
    /// How.
    pub why: Why,
}

/// How an edit was stopped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The document sets the value again.
    SetAgain,
    /// The document takes the value away.
    Deleted,
    /// A substitution writes over it.
    SubstitutedOver,
    /// What was there before stays.
    Kept,
    /// The document that holds it is left out.
    LeftOut,
    /// No action of the document takes its own value.
    NotTaken,
}

impl Why {
    /// In words, to go before a place.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::SetAgain => "set again",
            Why::Deleted => "deleted",
            Why::SubstitutedOver => "substituted over",
            Why::Kept => "kept as it was",
            Why::LeftOut => "left out",
            Why::NotTaken => "taken by no action",
        }
    }
}

/// Outputs of one schema and name that changed alike.
#[derive(Debug)]
pub struct Group {
    /// Indexes into [`Comparison::outputs`]; at least one.
    pub outputs: Vec<usize>,
}

/// What became of one site.
#[derive(Debug)]
pub struct SiteReach {
    /// Its name; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its type, on the head side if it is there.
    pub site_type: Option<Arc<str>>,
    /// Outputs on the base side; none where the site was not there.
    pub base: Option<usize>,
    /// Outputs on the head side; none where the site is not there any more.
    pub head: Option<usize>,
}

/// What was found in one site.
#[derive(Debug)]
pub struct SiteChanges {
    /// The site and how many outputs it has on each side.
    pub reach: SiteReach,
    /// Its changed outputs, with their causes.
    pub changes: Vec<Change>,
    /// What is not listed.
    pub unlisted: Unlisted,
    /// What stopped which edit in it.
    pub shields: Vec<(EditId, Shield)>,
    /// How sure the causes are, by edit.
    pub proofs: BTreeMap<EditId, Proof>,
}

impl SiteChanges {
    /// A site in which nothing changed.
    pub fn nothing(reach: SiteReach) -> Self {
        let (changes, shields) = (Vec::new(), Vec::new());
        let unlisted = Unlisted::default();
        Self { reach, changes, unlisted, shields, proofs: BTreeMap::new() }
    }
}

/// Puts together what was found in each site; `is_edited` says of a file
/// whether it is not the same on both sides of a site.
pub fn gather(
    edits: Vec<Edit>,
    found: Vec<SiteChanges>,
    is_edited: &dyn Fn(Option<&Arc<str>>, FileId) -> bool,
) -> Comparison {
    let mut reaches: Vec<EditReach> = edits.into_iter().map(EditReach::of).collect();
    let (mut outputs, mut sites) = (Vec::new(), Vec::new());
    let mut all_unlisted = Unlisted::default();
    for SiteChanges { reach, changes, unlisted, shields, proofs } in found {
        all_unlisted.outputs += unlisted.outputs;
        all_unlisted.causes += unlisted.causes;
        all_unlisted.shields += unlisted.shields;
        outputs.extend(
            changes.into_iter().map(|change| Change { site: reach.site.clone(), ..change }),
        );
        for (edit, shield) in shields {
            reaches[edit.index()].shields.push(Shield { site: reach.site.clone(), ..shield });
        }
        for (edit, proof) in proofs {
            let known = &mut reaches[edit.index()].proof;
            *known = Some(known.map_or(proof, |known| known.min(proof)));
        }
        sites.push(reach);
    }
    outputs.sort_by(|one, other| order(one).cmp(&order(other)));
    sites.sort_by(|one, other| one.site.cmp(&other.site));
    for (index, change) in outputs.iter_mut().enumerate() {
        change.touched = is_edited(change.site.as_ref(), change.at.file);
        for cause in &change.causes {
            let reach = &mut reaches[cause.edit.index()];
            reach.outputs.push(index);
            reach.untouched += usize::from(!change.touched);
        }
    }
    for reach in &mut reaches {
        let sites: BTreeSet<&Arc<str>> =
            reach.outputs.iter().filter_map(|output| outputs[*output].site.as_ref()).collect();
        reach.sites = sites.into_iter().cloned().collect();
        drop_passed_shields(reach, &outputs);
    }
    let groups = groups(&outputs);
    Comparison { edits: reaches, outputs, groups, sites, unlisted: all_unlisted }
}

/// Drops the shields of places that the edit changed by another way.
fn drop_passed_shields(reach: &mut EditReach, outputs: &[Change]) {
    if reach.shields.is_empty() {
        return;
    }
    let changed = reach.outputs.iter().map(|output| &outputs[*output]);
    let changed: BTreeMap<(Option<&Arc<str>>, &DocKey), &Change> =
        changed.map(|change| ((change.site.as_ref(), &change.key), change)).collect();
    reach.shields.retain(|shield| {
        let change = changed.get(&(shield.site.as_ref(), &shield.document));
        !change.is_some_and(|change| {
            change.data.iter().any(|difference| {
                let place = difference.location();
                place.starts_with(&shield.location)
                    || (difference.kind == diff::DifferenceKind::Value
                        && shield.location.starts_with(place))
            })
        })
    });
}

fn order(change: &Change) -> (&str, &str, &str, Option<&Arc<str>>) {
    (&change.key.schema, &change.key.name, &change.key.layer, change.site.as_ref())
}

/// Outputs that changed alike, of those in the order of their schemas and names. Those that
/// came or went did so alike whatever they hold. Values that are secret count as alike, for
/// otherwise the groups would tell which are equal.
fn groups(outputs: &[Change]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let is_same = |one: &Change, other: &Change| {
        (&one.key.schema, &one.key.name) == (&other.key.schema, &other.key.name)
    };
    let mut first = 0;
    for named_alike in outputs.chunk_by(is_same) {
        let mut known: BTreeMap<(Status, Vec<String>), usize> = BTreeMap::new();
        for (index, change) in (first..).zip(named_alike) {
            // Fast path: an output alone has none to be compared with.
            let delta = if named_alike.len() == 1 { Vec::new() } else { delta_of(change) };
            let group = *known.entry((change.status, delta)).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.outputs.push(index),
                None => groups.push(Group { outputs: vec![index] }),
            }
        }
        first += named_alike.len();
    }
    groups
}

/// Texts that are equal where outputs of the same status changed alike.
fn delta_of(change: &Change) -> Vec<String> {
    match change.status {
        Status::Added | Status::Removed | Status::NotComparable => Vec::new(),
        Status::Changed | Status::Broken | Status::Repaired | Status::Metadata => {
            change.data.iter().chain(&change.metadata).map(text_of).collect()
        }
    }
}

fn text_of(difference: &Difference) -> String {
    /// Maximum number of nodes of a value that is written out.
    const MAX_NODES: u64 = 20_000;
    let options = emit::EmitOptions { show_secrets: false, origin: None };
    let secret = difference.is_secret();
    let text = |node: &Node| match Size::of(node).nodes() {
        _ if secret => String::new(),
        // Copies of one value would fill the memory when written out.
        nodes if nodes > MAX_NODES => format!("{nodes} {}", diff::shown_hash(node)),
        _ => emit::to_yaml(node, &options),
    };
    let side = |place: &Option<layercake_yaml::diff::DiffPlace>| {
        place.as_ref().map_or_else(|| "-".to_owned(), |place| format!("+{}", text(&place.node)))
    };
    let what = match &difference.kind {
        diff::DifferenceKind::Value => String::new(),
        diff::DifferenceKind::Order { key, .. } => format!("order by {key}\0"),
    };
    format!(
        "{what}{}\0{}\0{}",
        difference.location(),
        side(&difference.base),
        side(&difference.head)
    )
}

impl Comparison {
    /// Leaves the edits that are `wanted`, with the outputs they changed, and
    /// those that changed values only together with one of them: without
    /// these it would look as if that one had done so alone. An output that
    /// no edit explains always stays, for it is a fault to be seen. Gives for
    /// each edit there was the number it has now, if it is left.
    pub fn keep(&mut self, wanted: &dyn Fn(EditId, &Edit) -> bool) -> Vec<Option<EditId>> {
        let edits = self.edits.iter().enumerate();
        let wanted = edits.map(|(index, reach)| wanted(EditId::at(index), &reach.edit)).collect();
        let is_left = self.with_joint(wanted);
        let edit_numbers = numbers_of(is_left.iter().copied());
        let output_numbers = numbers_of(self.outputs.iter().map(|change| {
            change.causes.is_empty() || change.causes.iter().any(|it| is_left[it.edit.index()])
        }));
        retain(&mut self.edits, &edit_numbers);
        retain(&mut self.outputs, &output_numbers);
        let edit_numbers: Vec<Option<EditId>> =
            edit_numbers.into_iter().map(|number| number.map(EditId::at)).collect();
        for reach in &mut self.edits {
            renumber_all(&mut reach.outputs, |output| output_numbers[output]);
        }
        for change in &mut self.outputs {
            change.causes.retain_mut(|cause| match edit_numbers[cause.edit.index()] {
                Some(number) => {
                    cause.edit = number;
                    renumber_all(&mut cause.joint, |edit| edit_numbers[edit.index()]);
                    true
                }
                None => false,
            });
        }
        for group in &mut self.groups {
            renumber_all(&mut group.outputs, |output| output_numbers[output]);
        }
        self.groups.retain(|group| !group.outputs.is_empty());
        edit_numbers
    }

    /// Which edits are left where these are wanted: they, and those that are
    /// joint with one that is left.
    fn with_joint(&self, wanted: Vec<bool>) -> Vec<bool> {
        let mut is_left = wanted;
        loop {
            let causes = self.outputs.iter().flat_map(|change| &change.causes);
            let joint = causes.filter(|cause| is_left[cause.edit.index()]);
            let missing: Vec<EditId> = joint
                .flat_map(|cause| &cause.joint)
                .copied()
                .filter(|edit| !is_left[edit.index()])
                .collect();
            if missing.is_empty() {
                return is_left;
            }
            for edit in missing {
                is_left[edit.index()] = true;
            }
        }
    }
}

/// For each item the place it has among those that are left.
fn numbers_of(is_left: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
    let mut next = 0..;
    is_left.map(|is_left| if is_left { next.next() } else { None }).collect()
}

fn retain<T>(items: &mut Vec<T>, numbers: &[Option<usize>]) {
    let mut numbers = numbers.iter();
    items.retain(|_| numbers.next().is_some_and(Option::is_some));
}

fn renumber_all<T: Copy>(numbers: &mut Vec<T>, new: impl Fn(T) -> Option<T>) {
    *numbers = numbers.iter().filter_map(|number| new(*number)).collect();
}

impl EditReach {
    fn of(edit: Edit) -> Self {
        Self {
            edit,
            outputs: Vec::new(),
            sites: Vec::new(),
            untouched: 0,
            shields: Vec::new(),
            proof: None,
        }
    }
}

impl Comparison {
    /// How many outputs have this status.
    pub fn count(&self, status: Status) -> usize {
        self.outputs.iter().filter(|change| change.status == status).count()
    }

    /// How many differences no edit explains.
    pub fn unexplained(&self) -> usize {
        self.outputs.iter().map(|change| change.unexplained).sum()
    }
}
