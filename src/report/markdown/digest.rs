//! A report as a page tells it: edits with the same reach together, outputs that
//! changed alike in a row, sites in figures, findings ranked. It is made once,
//! however much of it is then told, in time that grows with the report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::words::path_of;
use crate::report::json::{
    CauseForm, DocumentName, EditForm, Finding, OutputForm, Report, RouteForm, ShieldForm, State,
    StatusForm,
};
use crate::report::{Listing, Manner};

/// All that a page looks at.
pub(super) struct Digest<'a> {
    pub(super) report: &'a Report,
    /// The worst first, and new ones before those that were there.
    pub(super) findings: Vec<&'a Finding>,
    /// Edits that reached something or were stopped.
    pub(super) folds: Vec<Fold<'a>>,
    /// Edits that did neither.
    pub(super) inert: Vec<usize>,
    /// Sites with a change or a shield, by name.
    pub(super) sites: BTreeMap<&'a str, Site<'a>>,
    /// Names of documents that more than one schema has.
    pub(super) shared: BTreeSet<&'a str>,
}

/// Edits with the same reach.
pub(super) struct Fold<'a> {
    /// By their places in the report; at least one.
    pub(super) edits: Vec<usize>,
    /// The outputs it reached.
    pub(super) outputs: Vec<usize>,
    /// Those that are told with it, in rows.
    pub(super) rows: Vec<Row<'a>>,
    /// How many of the others are told with which other fold.
    pub(super) elsewhere: BTreeMap<usize, usize>,
    pub(super) shields: Vec<&'a ShieldForm>,
}

/// Outputs that changed alike.
pub(super) struct Row<'a> {
    pub(super) schema: &'a str,
    /// The names of the documents: one, or all that came, went or broke in the same
    /// sites by the same ways.
    pub(super) names: Vec<&'a str>,
    pub(super) status: StatusForm,
    /// Where in them, where they are there on both sides.
    pub(super) places: Vec<String>,
    /// Whether what they hold there is not the same in all of them.
    pub(super) differ: bool,
    pub(super) count: usize,
    pub(super) sites: Vec<&'a str>,
    /// The most common first.
    pub(super) ways: Vec<Way<'a>>,
}

/// A way that outputs of a row share, as far as words tell it.
pub(super) struct Way<'a> {
    /// The kinds of its steps.
    pub(super) vias: Vec<&'a str>,
    pub(super) joint: Vec<usize>,
    /// Whether the output only needs the edited document.
    pub(super) is_need: bool,
    pub(super) count: usize,
    /// One of the outputs, the longest way first, and its way.
    pub(super) example: (&'a OutputForm, &'a RouteForm),
    /// Whether all of them came by the same lines.
    pub(super) is_one: bool,
}

/// A site in figures.
#[derive(Default)]
pub(super) struct Site<'a> {
    /// By [`STATUSES`].
    pub(super) counts: [usize; STATUSES.len()],
    /// The edits that touched it.
    pub(super) edits: BTreeSet<usize>,
    /// What stopped edits in it.
    pub(super) shields: Vec<&'a ShieldForm>,
}

/// What can become of outputs, in the order of columns.
pub(super) const STATUSES: [StatusForm; 7] = [
    StatusForm::Changed,
    StatusForm::Added,
    StatusForm::Removed,
    StatusForm::Broken,
    StatusForm::Repaired,
    StatusForm::Metadata,
    StatusForm::NotComparable,
];

/// Where a status stands among [`STATUSES`].
fn position(status: StatusForm) -> usize {
    match status {
        StatusForm::Changed => 0,
        StatusForm::Added => 1,
        StatusForm::Removed => 2,
        StatusForm::Broken => 3,
        StatusForm::Repaired => 4,
        StatusForm::Metadata => 5,
        StatusForm::NotComparable => 6,
    }
}

impl<'a> Digest<'a> {
    pub(super) fn new(report: &'a Report, manner: &Manner<'_>) -> Self {
        let reaches = Reaches::of(report);
        let (folds, inert) = reaches.folds();
        Self {
            findings: ranked(report, manner.listing),
            folds: reaches.told(folds),
            inert,
            sites: sites(report),
            shared: shared_names(report),
            report,
        }
    }

    /// The sites that an edit would have reached and in which nothing changed.
    pub(super) fn shielded(&self) -> usize {
        self.sites.values().filter(|site| site.edits.is_empty() && !site.shields.is_empty()).count()
    }

    /// In how many sites something changed.
    pub(super) fn touched(&self) -> usize {
        self.sites.values().filter(|site| site.counts.iter().any(|it| *it > 0)).count()
    }
}

fn ranked(report: &Report, listing: Listing) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = report.listed(listing).collect();
    findings.sort_by_key(|it| {
        let is_old = usize::from(it.suppressed.is_some()) * 2
            + usize::from(it.state == Some(State::Unchanged));
        (is_old, Reverse(it.severity))
    });
    findings
}

fn shared_names(report: &Report) -> BTreeSet<&str> {
    let mut schemas: BTreeMap<&str, &str> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    let outputs = report.outputs.iter().map(|it| (&*it.name, &*it.schema));
    let edited = report.edits.iter().map(|it| (&*it.document.name, &*it.document.schema));
    for (name, schema) in outputs.chain(edited) {
        if *schemas.entry(name).or_insert(schema) != schema {
            shared.insert(name);
        }
    }
    shared
}

fn sites(report: &Report) -> BTreeMap<&str, Site<'_>> {
    let mut sites: BTreeMap<&str, Site<'_>> = BTreeMap::new();
    for output in &report.outputs {
        let Some(name) = output.site.as_deref() else { continue };
        let site = sites.entry(name).or_default();
        site.counts[position(output.status)] += 1;
        let causes = output.causes.iter().filter_map(|it| report.edit_number(&it.edit));
        site.edits.extend(causes);
    }
    for shield in &report.shields {
        let Some(name) = shield.site.as_deref() else { continue };
        sites.entry(name).or_default().shields.push(shield);
    }
    sites
}

/// An output that an edit reached, and why.
#[derive(Clone, Copy)]
struct Reached<'a> {
    output: usize,
    cause: &'a CauseForm,
    route: usize,
}

/// By edit, what it reached and what stopped it.
struct Reaches<'a> {
    report: &'a Report,
    reached: Vec<Vec<Reached<'a>>>,
    shields: Vec<Vec<&'a ShieldForm>>,
    /// By route, a number that routes through the same documents share.
    shapes: Vec<usize>,
}

/// What two edits have in common where they are told as one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Likeness<'a> {
    outputs: Vec<(usize, usize, &'a [String])>,
    stops: BTreeSet<(Option<&'a str>, &'a DocumentName, &'a str)>,
}

impl<'a> Reaches<'a> {
    fn of(report: &'a Report) -> Self {
        let mut reached: Vec<Vec<Reached<'_>>> = report.edits.iter().map(|_| Vec::new()).collect();
        for (output, form) in report.outputs.iter().enumerate() {
            for cause in &form.causes {
                let route = report.route_number(&cause.route);
                if let (Some(edit), Some(route)) = (report.edit_number(&cause.edit), route) {
                    reached[edit].push(Reached { output, cause, route });
                }
            }
        }
        let mut shields: Vec<Vec<&ShieldForm>> = report.edits.iter().map(|_| Vec::new()).collect();
        for shield in &report.shields {
            if let Some(edit) = report.edit_number(&shield.edit) {
                shields[edit].push(shield);
            }
        }
        Self { report, reached, shields, shapes: shapes(report) }
    }

    /// Edits with the same reach, in the order of the first of each; and those
    /// that reached nothing and were not stopped.
    fn folds(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        let (mut folds, mut inert): (Vec<Vec<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut known: BTreeMap<Likeness<'_>, usize> = BTreeMap::new();
        for edit in 0..self.report.edits.len() {
            let likeness = self.likeness(edit);
            let is_inert = self.report.edits[edit].is_inert();
            if likeness.outputs.is_empty() && likeness.stops.is_empty() && is_inert {
                inert.push(edit);
                continue;
            }
            let fold = *known.entry(likeness).or_insert(folds.len());
            match folds.get_mut(fold) {
                Some(edits) => edits.push(edit),
                None => folds.push(vec![edit]),
            }
        }
        (folds, inert)
    }

    fn likeness(&self, edit: usize) -> Likeness<'a> {
        let outputs = self.reached[edit].iter();
        let stops = self.shields[edit].iter();
        Likeness {
            outputs: outputs
                .map(|it| (it.output, self.shapes[it.route], &*it.cause.joint))
                .collect(),
            stops: stops.map(|it| (it.site.as_deref(), &it.by.document, &*it.why)).collect(),
        }
    }

    fn told(&self, folds: Vec<Vec<usize>>) -> Vec<Fold<'a>> {
        let mut owners: Vec<Option<usize>> = vec![None; self.report.outputs.len()];
        for (at, edits) in folds.iter().enumerate() {
            for reached in &self.reached[edits[0]] {
                owners[reached.output].get_or_insert(at);
            }
        }
        let folds = folds.into_iter().enumerate();
        folds.map(|(at, edits)| self.fold(at, edits, &owners)).collect()
    }

    fn fold(&self, at: usize, edits: Vec<usize>, owners: &[Option<usize>]) -> Fold<'a> {
        let reached = &self.reached[edits[0]];
        let mut own = Vec::new();
        let mut elsewhere = BTreeMap::new();
        for it in reached {
            match owners[it.output] {
                Some(owner) if owner != at => *elsewhere.entry(owner).or_insert(0) += 1,
                Some(_) | None => own.push(*it),
            }
        }
        Fold {
            outputs: reached.iter().map(|it| it.output).collect(),
            rows: self.rows(&own, &edits),
            elsewhere,
            shields: edits.iter().flat_map(|it| &self.shields[*it]).copied().collect(),
            edits,
        }
    }

    /// Outputs by schema, name and the places at which they changed.
    fn rows(&self, own: &[Reached<'a>], edits: &[usize]) -> Vec<Row<'a>> {
        let mut alike: BTreeMap<(&str, &str, StatusForm, Vec<String>), Vec<Reached<'a>>> =
            BTreeMap::new();
        let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for reached in own {
            let output = &self.report.outputs[reached.output];
            let group = output.group.as_deref().unwrap_or_default();
            let is_alone = output.causes.len() == 1;
            let at = match output.status {
                StatusForm::Added
                | StatusForm::Removed
                | StatusForm::Broken
                | StatusForm::Repaired
                | StatusForm::NotComparable => Vec::new(),
                StatusForm::Changed if !is_alone => self.places_of_causes(output, edits),
                StatusForm::Changed | StatusForm::Metadata => {
                    places.entry(group).or_insert_with(|| self.places_of(group)).clone()
                }
            };
            let key = (&*output.schema, &*output.name, output.status, at);
            alike.entry(key).or_default().push(*reached);
        }
        let rows = alike.into_iter().map(|((schema, name, status, places), outputs)| {
            self.row(schema, name, status, places, &outputs)
        });
        let mut rows = together(rows.collect());
        // The nearest first; those as near as each other keep their order.
        rows.sort_by_key(|row| row.ways.iter().map(|way| way.vias.len()).min());
        rows
    }

    /// Where a group changed.
    fn places_of(&self, group: &str) -> Vec<String> {
        let group = self.report.group_number(group);
        let changes = group.into_iter().flat_map(|at| &self.report.groups[at].changes);
        changes.map(|change| path_of(&change.part, &change.pointer)).collect()
    }

    /// Where edits changed an output that others changed, too.
    fn places_of_causes(&self, output: &OutputForm, edits: &[usize]) -> Vec<String> {
        let is_own = |cause: &&CauseForm| {
            let edit = self.report.edit_number(&cause.edit);
            edit.is_some_and(|it| edits.binary_search(&it).is_ok())
        };
        let causes = output.causes.iter().filter(is_own);
        let routes = causes.filter_map(|cause| self.report.route(&cause.route));
        let last = routes.filter_map(|route| route.steps.last());
        let mut places: Vec<String> = Vec::new();
        for place in last.filter_map(|step| step.pointer.as_deref()) {
            let place = path_of("data", place);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    fn row(
        &self,
        schema: &'a str,
        name: &'a str,
        status: StatusForm,
        places: Vec<String>,
        outputs: &[Reached<'a>],
    ) -> Row<'a> {
        let forms = || outputs.iter().map(|it| &self.report.outputs[it.output]);
        let groups: BTreeSet<Option<&str>> = forms().map(|it| it.group.as_deref()).collect();
        let sites: BTreeSet<&str> = forms().filter_map(|it| it.site.as_deref()).collect();
        let is_there_twice = matches!(status, StatusForm::Changed | StatusForm::Metadata);
        Row {
            schema,
            names: vec![name],
            status,
            places,
            differ: is_there_twice && groups.len() > 1,
            count: outputs.len(),
            sites: sites.into_iter().collect(),
            ways: self.ways(outputs),
        }
    }

    fn ways(&self, outputs: &[Reached<'a>]) -> Vec<Way<'a>> {
        let mut known: BTreeMap<(Vec<&str>, Vec<usize>, bool), usize> = BTreeMap::new();
        let mut ways: Vec<Way<'a>> = Vec::new();
        for reached in outputs {
            let output = &self.report.outputs[reached.output];
            let route = &self.report.routes[reached.route];
            let vias = vias(route);
            let joint = reached.cause.joint.iter();
            let joint: Vec<usize> = joint.filter_map(|it| self.report.edit_number(it)).collect();
            let is_need = is_need(output, route);
            let at = *known.entry((vias.clone(), joint.clone(), is_need)).or_insert(ways.len());
            match ways.get_mut(at) {
                None => ways.push(Way {
                    vias,
                    joint,
                    is_need,
                    count: 1,
                    example: (output, route),
                    is_one: true,
                }),
                Some(way) => {
                    way.count += 1;
                    way.is_one &= way.example.1.id == route.id;
                    if route.steps.len() > way.example.1.steps.len() {
                        way.example = (output, route);
                    }
                }
            }
        }
        ways.sort_by_key(|way| Reverse(way.count));
        ways
    }
}

/// By route, a number that routes through the same documents share.
fn shapes(report: &Report) -> Vec<usize> {
    let mut known: BTreeMap<Vec<(&str, &DocumentName)>, usize> = BTreeMap::new();
    let shapes = report.routes.iter().map(|route| {
        let steps = route.steps.iter().map(|step| (&*step.via, &step.document));
        let next = known.len();
        *known.entry(steps.collect()).or_insert(next)
    });
    shapes.collect()
}

/// The steps of a route in words: where it begins goes without saying, unless it
/// ends there, and several steps of one kind are said once.
fn vias(route: &RouteForm) -> Vec<&str> {
    let mut vias: Vec<&str> = route.steps.iter().map(|step| &*step.via).collect();
    if vias.len() > 1 && vias[0] == "edited" {
        vias.remove(0);
    }
    vias.dedup();
    vias
}

/// Whether an output is rendered on one side only because it needs a document, and
/// not because it is written by it.
fn is_need(output: &OutputForm, route: &RouteForm) -> bool {
    let is_whole = matches!(output.status, StatusForm::Broken | StatusForm::Repaired);
    match &route.steps[..] {
        [only] => {
            let document = &only.document;
            is_whole && (&*document.schema, &*document.name) != (&*output.schema, &*output.name)
        }
        _ => false,
    }
}

/// Documents that came, went or broke in the same sites by the same ways, as one
/// row where they are many: a site that is new is not hundreds of rows.
fn together(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    const MANY: usize = 4;
    type Likeness<'a> = (StatusForm, Vec<&'a str>, Vec<Vec<&'a str>>);
    let mut known: BTreeMap<Likeness<'_>, Vec<Row<'_>>> = BTreeMap::new();
    let mut told = Vec::new();
    for row in rows {
        match row.status {
            StatusForm::Changed | StatusForm::Metadata => told.push(row),
            StatusForm::Added
            | StatusForm::Removed
            | StatusForm::Broken
            | StatusForm::Repaired
            | StatusForm::NotComparable => {
                let ways = row.ways.iter().map(|way| way.vias.clone()).collect();
                known.entry((row.status, row.sites.clone(), ways)).or_default().push(row);
            }
        }
    }
    for rows in known.into_values() {
        if rows.len() < MANY {
            told.extend(rows);
            continue;
        }
        let mut rows = rows.into_iter();
        told.extend(rows.next().map(|first| rows.fold(first, joined)));
    }
    told
}

fn joined<'a>(mut all: Row<'a>, row: Row<'a>) -> Row<'a> {
    all.count += row.count;
    all.names.extend(row.names);
    for (way, other) in all.ways.iter_mut().zip(row.ways) {
        way.count += other.count;
        way.is_one &= way.example.1.id == other.example.1.id;
    }
    all
}

/// Where an edit is: on the head side, or where it was.
pub(super) fn place_of(edit: &EditForm) -> Option<(&str, usize, Side)> {
    let head = edit.at.to.as_ref().map(|it| (&*it.file, it.line, Side::Head));
    head.or_else(|| edit.at.from.as_ref().map(|it| (&*it.file, it.line, Side::Base)))
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Base,
    Head,
}
