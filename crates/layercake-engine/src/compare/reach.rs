//! Reach of edits over all sites, with equal changes grouped, and the shields that stopped edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake_source::{DocKey, FileId, Span};
use layercake_yaml::diff::{self, Difference};
use layercake_yaml::path::Location;
use layercake_yaml::{Node, Size, emit};

use super::{Change, Deployed, DeployedCounts, Fault, Idle, Proof, Status};
use crate::edit::{Edit, EditId, EditKind};

/// Result of comparing two sides.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Edits, by id.
    pub edits: Vec<EditReach>,
    /// Changed outputs, by schema, name, layer and site.
    pub outputs: Vec<Change>,
    /// Groups of equal changes, as indexes into `outputs`, in the order of their first outputs.
    /// Each output is in one group.
    pub groups: Vec<Group>,
    /// Sites that exist on at least one side, by name.
    pub sites: Vec<SiteReach>,
    /// Numbers of results that are not listed.
    pub unlisted: Unlisted,
    /// Statements that rendering contradicts, by site: bugs in layercake.
    pub faults: Vec<(Option<Arc<str>>, Fault)>,
}

/// Numbers of results that are not listed because there are too many. All of them are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Causes of outputs whose routes are not listed.
    pub causes: usize,
    /// Shields.
    pub shields: usize,
}

/// Edit with its reach.
#[derive(Debug)]
pub struct EditReach {
    /// The edit.
    pub edit: Edit,
    /// Number of outputs that it changed; [`Comparison::outputs_of`] returns them.
    pub outputs: usize,
    /// Sites of these outputs, by name.
    pub sites: Vec<Arc<str>>,
    /// Number of these outputs whose files were not edited.
    pub untouched: usize,
    /// Numbers of these outputs by whether they are deployed.
    pub deployed: DeployedCounts,
    /// Unchanged outputs that would have changed without it, by site.
    pub kept: Vec<(Option<Arc<str>>, DocKey)>,
    /// Sites in which a shield stopped it, by name.
    pub shielded: Vec<Option<Arc<str>>>,
    /// Listed shields, by site.
    pub shields: Vec<Shield>,
    /// Certainty of the reach; `None` for an inert edit, which changed nothing.
    pub proof: Option<Proof>,
    /// Reason why it changed nothing, if it is inert and the reason is known.
    pub idle: Option<Idle>,
}

impl EditReach {
    /// Returns whether the outputs that the edit changes are not known within the limits.
    pub fn is_undecided(&self) -> bool {
        self.proof == Some(Proof::NotDecided)
    }

    /// Returns whether the edit changed an output, might have, or stopped at one.
    fn is_of_outputs(&self) -> bool {
        self.proof.is_some() || !self.kept.is_empty() || !self.shielded.is_empty()
    }
}

/// Override that stopped an edit.
#[derive(Clone, Debug)]
pub struct Shield {
    /// The site; `None` for a set without layout.
    pub site: Option<Arc<str>>,
    /// Document where the edit stopped.
    pub document: DocKey,
    /// Place in its data.
    pub location: Location,
    /// Text that stopped the edit.
    pub by: Span,
    /// Reason.
    pub why: Why,
}

/// Reason why an edit stopped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The document sets the value itself.
    SetAgain,
    /// The document sets the same value itself, so its own is redundant.
    SetToSame,
    /// The document replaces the inherited data with its own.
    NotInherited,
    /// The document deletes the value.
    Deleted,
    /// A substitution overwrites the value.
    SubstitutedOver,
    /// The previous value is kept.
    Kept,
    /// The document with the value is not merged.
    LeftOut,
    /// No action of the document uses its own value.
    NotTaken,
}

impl Why {
    /// Returns the reason as text, to be followed by a place.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::SetAgain => "set again",
            Why::SetToSame => "set again to the same value",
            Why::NotInherited => "not inherited (action `replace`)",
            Why::Deleted => "deleted",
            Why::SubstitutedOver => "overwritten",
            Why::Kept => "previous value kept",
            Why::LeftOut => "not merged",
            Why::NotTaken => "not used",
        }
    }
}

/// Outputs of the same schema and name with equal changes.
#[derive(Debug)]
pub struct Group {
    /// Indexes into [`Comparison::outputs`]; at least one.
    pub outputs: Vec<usize>,
}

/// Outputs of one site.
#[derive(Debug, Default)]
pub struct SiteReach {
    /// Its name; `None` for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its type, on the head side if it exists there.
    pub site_type: Option<Arc<str>>,
    /// Number of outputs on the base side; `None` if the site did not exist.
    pub base: Option<usize>,
    /// Number of outputs on the head side; `None` if the site no longer exists.
    pub head: Option<usize>,
    /// Whether the site was read; not if no edit can reach it.
    pub is_read: bool,
}

/// Changes of one site.
#[derive(Debug)]
pub struct SiteChanges {
    /// The site, with the number of its outputs on each side.
    pub reach: SiteReach,
    /// Changed outputs, with their causes.
    pub changes: Vec<Change>,
    /// Numbers of results that are not listed.
    pub unlisted: Unlisted,
    /// Edits that a shield stopped.
    pub shielded: BTreeSet<EditId>,
    /// Listed shields, with the edits that they stopped.
    pub shields: Vec<(EditId, Shield)>,
    /// Certainty of the causes, by edit.
    pub proofs: BTreeMap<EditId, Proof>,
    /// Unchanged outputs that would have changed without an edit.
    pub kept: BTreeMap<EditId, BTreeSet<DocKey>>,
    /// Edits that had no effect and met no shield, with the reason if it is known.
    pub idle: BTreeMap<EditId, Option<Idle>>,
    /// Statements that rendering contradicts.
    pub faults: Vec<Fault>,
}

impl SiteChanges {
    /// Creates the result for a site without changes.
    pub fn unchanged(reach: SiteReach) -> Self {
        Self {
            reach,
            changes: Vec::new(),
            unlisted: Unlisted::default(),
            shielded: BTreeSet::new(),
            shields: Vec::new(),
            proofs: BTreeMap::new(),
            kept: BTreeMap::new(),
            idle: BTreeMap::new(),
            faults: Vec::new(),
        }
    }
}

/// Combines the results of all sites. `is_edited` returns whether a file differs between both sides
/// of a site.
pub fn gather(
    edits: Vec<Edit>,
    found: Vec<SiteChanges>,
    is_edited: &dyn Fn(Option<&Arc<str>>, FileId) -> bool,
) -> Comparison {
    let mut reaches: Vec<EditReach> = edits.into_iter().map(EditReach::of).collect();
    let mut outputs = Vec::new();
    let mut sites = Vec::new();
    let mut all_unlisted = Unlisted::default();
    let mut all_faults = Vec::new();
    let mut reasons: BTreeMap<EditId, Option<Idle>> = BTreeMap::new();
    for SiteChanges {
        reach,
        changes,
        unlisted,
        shielded,
        shields,
        proofs,
        kept,
        idle,
        faults,
    } in found
    {
        all_unlisted.causes += unlisted.causes;
        all_unlisted.shields += unlisted.shields;
        outputs.extend(changes.into_iter().map(|change| Change {
            site: reach.site.clone(),
            ..change
        }));
        all_faults.extend(faults.into_iter().map(|fault| (reach.site.clone(), fault)));
        for edit in shielded {
            reaches[edit.index()].shielded.push(reach.site.clone());
        }
        for (edit, shield) in shields {
            reaches[edit.index()].shields.push(Shield {
                site: reach.site.clone(),
                ..shield
            });
        }
        for (edit, proof) in proofs {
            let known = &mut reaches[edit.index()].proof;
            *known = Some(known.map_or(proof, |known| known.min(proof)));
        }
        for (edit, outputs) in kept {
            let outputs = outputs
                .into_iter()
                .map(|output| (reach.site.clone(), output));
            reaches[edit.index()].kept.extend(outputs);
        }
        for (edit, reason) in idle {
            let known = reasons.entry(edit).or_insert(reason);
            *known = (*known).min(reason);
        }
        sites.push(reach);
    }
    outputs.sort_by(|one, other| order(one).cmp(&order(other)));
    sites.sort_by(|one, other| one.site.cmp(&other.site));
    for change in &mut outputs {
        change.touched = is_edited(change.site.as_ref(), change.at.file);
    }
    count_outputs(&mut reaches, &outputs);
    for (at, reach) in reaches.iter_mut().enumerate() {
        if reach.proof.is_none() && reach.kept.is_empty() && reach.shielded.is_empty() {
            let reason = reasons.get(&EditId::at(at)).copied();
            reach.idle = reason.unwrap_or(Some(Idle::NoSite));
        }
        reach.shielded.sort_unstable();
    }
    let groups = groups(&outputs);
    Comparison {
        edits: reaches,
        outputs,
        groups,
        sites,
        unlisted: all_unlisted,
        faults: all_faults,
    }
}

/// Counts the outputs of each edit, and lists their sites.
fn count_outputs(reaches: &mut [EditReach], outputs: &[Change]) {
    for reach in &mut *reaches {
        (reach.outputs, reach.untouched) = (0, 0);
        reach.deployed = DeployedCounts::default();
        reach.sites.clear();
    }
    for (edits, class) in classes(outputs) {
        let sites: BTreeSet<&Arc<str>> = class
            .iter()
            .filter_map(|change| change.site.as_ref())
            .collect();
        let untouched = class.iter().filter(|change| !change.touched).count();
        let deployed: DeployedCounts = class.iter().map(|change| change.deployed).collect();
        for edit in edits {
            let reach = &mut reaches[edit.index()];
            reach.outputs += class.len();
            reach.deployed += deployed;
            reach.untouched += untouched;
            reach.sites.extend(sites.iter().copied().cloned());
        }
    }
    for reach in reaches {
        reach.sites.sort_unstable();
        reach.sites.dedup();
    }
}

/// Groups the outputs by the edits that changed them.
fn classes(outputs: &[Change]) -> BTreeMap<&[EditId], Vec<&Change>> {
    let mut classes: BTreeMap<&[EditId], Vec<&Change>> = BTreeMap::new();
    for change in outputs {
        classes.entry(&change.edits).or_default().push(change);
    }
    classes
}

fn order(change: &Change) -> (&str, &str, &str, Option<&Arc<str>>) {
    (
        &change.key.schema,
        &change.key.name,
        &change.key.layer,
        change.site.as_ref(),
    )
}

/// Groups equal changes; `outputs` must be sorted by schema and name. Added outputs are equal
/// regardless of content, and so are removed ones. Secret values are treated as equal, so that the
/// groups do not reveal which of them are.
fn groups(outputs: &[Change]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut first = 0;
    let groups_by_name = outputs.chunk_by(|one, other| {
        (&one.key.schema, &one.key.name) == (&other.key.schema, &other.key.name)
    });
    for named_alike in groups_by_name {
        let mut known: BTreeMap<(Status, Vec<String>), usize> = BTreeMap::new();
        for (index, change) in (first..).zip(named_alike) {
            // Fast path: a single output is a group of its own.
            let delta = if named_alike.len() == 1 {
                Vec::new()
            } else {
                delta_of(change)
            };
            let group = *known.entry((change.status, delta)).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.outputs.push(index),
                None => groups.push(Group {
                    outputs: vec![index],
                }),
            }
        }
        first += named_alike.len();
    }
    groups
}

/// Returns a key that is equal for equal changes of outputs with the same status.
fn delta_of(change: &Change) -> Vec<String> {
    match change.status {
        Status::Added | Status::Removed | Status::NotComparable => Vec::new(),
        Status::Changed | Status::Broken | Status::Repaired | Status::Metadata => change
            .data
            .iter()
            .chain(&change.metadata)
            .map(text_of)
            .collect(),
    }
}

fn text_of(difference: &Difference) -> String {
    /// Maximum number of nodes of a value that is written out.
    const MAX_NODES: u64 = 20_000;
    let options = emit::EmitOptions {
        show_secrets: false,
        origin: None,
    };
    let secret = difference.is_secret();
    let text = |node: &Node| match Size::of(node).nodes() {
        _ if secret => String::new(),
        // Repeated copies of one value would exhaust memory when written out.
        nodes if nodes > MAX_NODES => format!("{nodes} {}", diff::shown_hash(node)),
        _ => emit::to_yaml(node, &options),
    };
    let side = |place: &Option<layercake_yaml::diff::DiffPlace>| {
        place
            .as_ref()
            .map_or_else(|| "-".to_owned(), |place| format!("+{}", text(&place.node)))
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
    /// Keeps only the `wanted` edits and the outputs that they changed. Also keeps edits that
    /// changed values only jointly with a kept edit, which would otherwise appear to be the sole
    /// cause. Unexplained outputs are always kept, because they show a bug. Returns the new id of
    /// each previous edit, if it was kept.
    pub fn keep(&mut self, wanted: &dyn Fn(EditId, &Edit) -> bool) -> Vec<Option<EditId>> {
        let edits = self.edits.iter().enumerate();
        let wanted = edits
            .map(|(index, reach)| wanted(EditId::at(index), &reach.edit))
            .collect();
        let is_left = self.with_joint(wanted);
        let edit_numbers = numbers_of(is_left.iter().copied());
        let output_numbers = numbers_of(self.outputs.iter().map(|change| {
            change.edits.is_empty() || change.edits.iter().any(|edit| is_left[edit.index()])
        }));
        retain(&mut self.edits, &edit_numbers);
        retain(&mut self.outputs, &output_numbers);
        let edit_numbers: Vec<Option<EditId>> = edit_numbers
            .into_iter()
            .map(|number| number.map(EditId::at))
            .collect();
        let kept = |edits: &[EditId]| -> Arc<[EditId]> {
            edits
                .iter()
                .filter_map(|edit| edit_numbers[edit.index()])
                .collect()
        };
        for change in &mut self.outputs {
            change.edits = kept(&change.edits);
            for causes in &mut change.places {
                causes.edits = kept(&causes.edits);
            }
            change
                .causes
                .retain_mut(|cause| match edit_numbers[cause.edit.index()] {
                    Some(number) => {
                        cause.edit = number;
                        renumber_all(&mut cause.joint, |edit| edit_numbers[edit.index()]);
                        true
                    }
                    None => false,
                });
        }
        self.faults.retain_mut(|(_, fault)| match fault {
            Fault::Unnamed { edit, .. } | Fault::Shield { edit, .. } => {
                let number = edit_numbers[edit.index()];
                *edit = number.unwrap_or(*edit);
                number.is_some()
            }
            Fault::Incomplete { .. } | Fault::Effective { .. } => true,
        });
        for group in &mut self.groups {
            renumber_all(&mut group.outputs, |output| output_numbers[output]);
        }
        self.groups.retain(|group| !group.outputs.is_empty());
        edit_numbers
    }

    /// Keeps only the wanted outputs, and the edits that changed them, that would have, that stopped
    /// at them, or whose reach is not known. If not all shields are listed, it is not known at which
    /// outputs edits stopped, and all sites where they did are kept. Returns the new id of each previous edit, if it was kept.
    pub fn keep_outputs(&mut self, is_wanted: &dyn Fn(&DocKey) -> bool) -> Vec<Option<EditId>> {
        self.outputs.retain(|change| is_wanted(&change.key));
        for reach in &mut self.edits {
            reach.kept.retain(|(_, key)| is_wanted(key));
            reach.shields.retain(|shield| is_wanted(&shield.document));
            if self.unlisted.shields == 0 {
                let there: BTreeSet<_> = reach.shields.iter().map(|it| &it.site).collect();
                reach.shielded.retain(|site| there.contains(site));
            }
        }
        self.keep_edits_of_outputs()
    }

    /// Leaves out outputs that are only rendered, and edits that reach no other output. Returns the new
    /// id of each previous edit, if it was kept.
    pub fn keep_deployed(&mut self) -> Vec<Option<EditId>> {
        self.outputs
            .retain(|change| change.deployed != Deployed::RenderedOnly);
        self.keep_edits_of_outputs()
    }

    /// Counts the outputs that are left, and keeps only the edits that reach one, would have, or
    /// stopped at one. Returns the new id of each previous edit, if it was kept.
    fn keep_edits_of_outputs(&mut self) -> Vec<Option<EditId>> {
        count_outputs(&mut self.edits, &self.outputs);
        self.groups = groups(&self.outputs);
        for reach in &mut self.edits {
            let is_inert = reach.outputs == 0 && reach.kept.is_empty() && !reach.is_undecided();
            reach.proof = reach.proof.filter(|_| !is_inert);
        }
        let of_edits: Vec<bool> = self.edits.iter().map(EditReach::is_of_outputs).collect();
        self.keep(&|id, edit| edit.kind == EditKind::File || of_edits[id.index()])
    }

    /// Returns which edits to keep: the wanted ones, and those that are joint with a kept one.
    fn with_joint(&self, wanted: Vec<bool>) -> Vec<bool> {
        let mut is_left = wanted;
        loop {
            let joint = self
                .outputs
                .iter()
                .flat_map(|change| &change.places)
                .filter(|causes| {
                    causes.are_joint && causes.edits.iter().any(|edit| is_left[edit.index()])
                });
            let missing: Vec<EditId> = joint
                .flat_map(|causes| &*causes.edits)
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

/// Returns the index of each item among those that are kept.
fn numbers_of(is_left: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
    let mut next = 0..;
    is_left
        .map(|is_left| if is_left { next.next() } else { None })
        .collect()
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
            outputs: 0,
            sites: Vec::new(),
            untouched: 0,
            deployed: DeployedCounts::default(),
            kept: Vec::new(),
            shielded: Vec::new(),
            shields: Vec::new(),
            proof: None,
            idle: None,
        }
    }
}

impl Comparison {
    /// Returns the outputs that an edit changed.
    pub fn outputs_of(&self, edit: EditId) -> impl Iterator<Item = &Change> {
        self.outputs
            .iter()
            .filter(move |change| change.edits.binary_search(&edit).is_ok())
    }

    /// Returns the number of outputs with this status.
    pub fn count(&self, status: Status) -> usize {
        self.outputs
            .iter()
            .filter(|change| change.status == status)
            .count()
    }

    /// Returns the number of unexplained differences.
    pub fn unexplained(&self) -> usize {
        self.outputs.iter().map(|change| change.unexplained).sum()
    }
}
