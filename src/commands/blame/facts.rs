//! Facts about a site that are traced through its history: whether there is a finding, and whether
//! a text reaches a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::outputs::documents;
use super::walk::{Before, CommitsAtHand, Done, Known, Walk};
use super::{BlameRun, NamedCommits};
use crate::ask::ValueQuestion;
use crate::ask::line::Line;
use crate::ask::why_not::{WantedValue, trace_towards};
use crate::check::{Checked, RenderedSite, SiteStates, StatesAtHand};
use crate::commands::file_and_line;
use crate::commands::history::{CommitIndex, SiteHistory};
use crate::compare::{Texts, edits_overlapping as overlapping};
use crate::diagnostic::Diagnostic;
use crate::edit::{Edit, EditId};
use crate::error::Error;
use crate::graph::{DocId, Recipe};
use crate::render::replay::Replay;
use crate::report::answer::blame::{
    Blame, BlameAnswer, BlameCause, BlameEnd, BlamedChange, BlamedFinding, ReachStep, TextHistory,
};
use crate::report::answer::provenance::{ReachState, TextTrace};
use crate::source::{DocKey, RepoPath, Span};
use crate::yaml::path::Location;

/// A fact that is traced.
#[derive(Clone, Debug)]
pub(super) struct FollowedFact<S, F> {
    /// Index among the initial facts of the walk.
    pub(super) index: usize,
    pub(super) subject: S,
    pub(super) fact: F,
}

/// A commit that changed a fact.
pub(super) struct FoundFact<F> {
    pub(super) commit: CommitIndex,
    /// Skipped commits before it that cannot be rendered.
    pub(super) passed_over: Vec<CommitIndex>,
    pub(super) end: BlameEnd,
    pub(super) index: usize,
    /// `None` if the earlier fact is unknown.
    pub(super) before: Option<F>,
    pub(super) after: F,
    /// Edits at the texts that the fact depends on.
    pub(super) causes: Vec<Arc<BlameCause>>,
}

/// A fact at one commit, and the texts that it depends on.
#[derive(Clone, Debug)]
pub(super) struct FactAt<F> {
    pub(super) fact: F,
    pub(super) texts: Vec<Span>,
}

/// Settings for tracing facts.
pub(super) struct FollowingFacts<'f, S, F> {
    /// Returns the fact at a commit; `None` if the commit is not in memory.
    pub(super) fact: &'f FactOf<'f, S, F>,
    /// Whether the fact before a change is traced further.
    pub(super) continues: bool,
}

pub(super) type FactOf<'f, S, F> =
    dyn Fn(&CommitsAtHand<'_, '_>, CommitIndex, &S) -> Option<Known<FactAt<F>>> + 'f;

impl<S: Clone, F: Clone + PartialEq> FollowingFacts<'_, S, F> {
    /// Passes the facts at a commit on to its parents; `None` if commits are needed that are not in
    /// memory.
    pub(super) fn step(
        &self,
        at: &CommitsAtHand<'_, '_>,
        commit: CommitIndex,
        facts: &[FollowedFact<S, F>],
    ) -> Option<Done<FollowedFact<S, F>, FoundFact<F>>> {
        let mut done = Done::default();
        for followed in facts {
            let FollowedFact { subject, fact, .. } = followed;
            let known = |earlier| (self.fact)(at, earlier, subject);
            let before = at.before(commit, &known, &mut done.unusable)?;
            let same = before
                .known
                .iter()
                .find(|(_, earlier)| earlier.fact == *fact);
            if let Some((earlier, _)) = same {
                done.passed_on.push((*earlier, followed.clone()));
                continue;
            }
            let here = match (self.fact)(at, commit, subject)? {
                Known::Is(here) => here.texts,
                Known::Not(_) => Vec::new(),
            };
            let Before { known, passed_over } = before;
            let base = known.into_iter().next();
            let end = match &base {
                Some(_) => BlameEnd::Changed,
                None => at.history.commit(commit).end(),
            };
            let causes = base.as_ref().map(|(base, earlier)| {
                edits_overlapping(at, (*base, &earlier.texts), (commit, &here))
            });
            if let (Some((base, earlier)), true) = (&base, self.continues) {
                let fact = earlier.fact.clone();
                done.passed_on.push((
                    *base,
                    FollowedFact {
                        fact,
                        ..followed.clone()
                    },
                ));
            }
            done.changes.push(FoundFact {
                commit,
                passed_over,
                end,
                index: followed.index,
                before: base.map(|(_, earlier)| earlier.fact),
                after: fact.clone(),
                causes: causes.unwrap_or_default(),
            });
        }
        Some(done)
    }
}

/// Edits between two commits, and their texts on both sides.
pub(super) struct EditsBetween {
    edits: Vec<Arc<Edit>>,
    texts: [Texts; 2],
}

impl EditsBetween {
    /// The edits between two states; `None` if layercake failed.
    pub(super) fn of(states: &StatesAtHand<'_>, base: usize, head: usize) -> Option<Self> {
        let edits = states.changes(base, head, |_| Vec::new())?.edits;
        let all: Vec<EditId> = (0..edits.len()).map(EditId::at).collect();
        let texts = [
            Texts::of(&edits, &all, |edit| edit.base.as_ref()),
            Texts::of(&edits, &all, |edit| edit.head.as_ref()),
        ];
        Some(Self {
            edits: edits.into_iter().map(Arc::new).collect(),
            texts,
        })
    }
}

/// Edits between two commits that overlap one of the texts of either.
fn edits_overlapping(
    at: &CommitsAtHand<'_, '_>,
    (base, before): (CommitIndex, &[Span]),
    (head, after): (CommitIndex, &[Span]),
) -> Vec<Arc<BlameCause>> {
    let Some(found) = at.edits_between(base, head) else {
        return Vec::new();
    };
    let [of_base, of_head] = &found.texts;
    let before = before.iter().map(|span| (of_base, *span));
    let own = after.first().map(|span| span.file);
    let cause = |id: EditId| {
        let edit = found.edits[id.index()].clone();
        let is_in_own_file = edit
            .head
            .as_ref()
            .is_some_and(|text| Some(text.at.file) == own);
        Arc::new(BlameCause {
            id,
            edit,
            is_in_own_file,
            route: Arc::default(),
        })
    };
    let met = overlapping(before.chain(after.iter().map(|span| (of_head, *span))));
    met.into_iter().map(cause).collect()
}

/// Identity of a finding, independent of its line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FindingSubject {
    rule: &'static str,
    subject: String,
    document: Option<DocKey>,
    /// File, if the finding is not about a document.
    path: Option<RepoPath>,
}

impl FindingSubject {
    fn of(finding: &Diagnostic, path: RepoPath) -> Self {
        let document = finding.documents.first().cloned();
        let path = document.is_none().then_some(path);
        Self {
            rule: finding.rule.name,
            subject: finding.subject.clone(),
            document,
            path,
        }
    }
}

impl BlameRun<'_> {
    /// Commits that introduced findings.
    pub(super) fn findings(
        &self,
        history: SiteHistory<'_>,
        states: SiteStates,
    ) -> Result<(Checked<()>, Blame), Error> {
        let mut walk = Walk::new(history, states);
        let asked = self.begin(&mut walk, |site, at_hand| self.findings_now(site, at_hand))?;
        let facts = asked
            .keys()
            .enumerate()
            .map(|(index, subject)| FollowedFact {
                index,
                subject: subject.clone(),
                fact: true,
            });
        walk.follow(self.first, facts.collect());
        let following = FollowingFacts {
            fact: &finding_at,
            continues: false,
        };
        let step =
            |at: &CommitsAtHand<'_, '_>, commit, facts: &[_]| following.step(at, commit, facts);
        let (found, end) =
            self.run_walk(&mut walk, &step, |found| found.commit, &mut |_, _| Ok(()))?;
        let named = NamedCommits::of(&walk, found.iter().map(|found| found.commit));
        let mut changes: BTreeMap<usize, BlamedChange> = found
            .into_iter()
            .map(|found| (found.index, found.blamed(&named)))
            .collect();
        let findings = asked
            .into_values()
            .enumerate()
            .map(|(index, finding)| BlamedFinding {
                rule: finding.rule.name,
                message: finding.message,
                at: finding.primary.span,
                change: changes.remove(&index),
            });
        self.end(
            walk,
            named,
            (BlameAnswer::Findings(findings.collect()), end),
        )
    }

    /// Findings at the start of the walk, in the requested documents.
    fn findings_now(
        &self,
        site: &RenderedSite<'_>,
        at_hand: &StatesAtHand<'_>,
    ) -> Result<BTreeMap<FindingSubject, Diagnostic>, Error> {
        let recipes: Vec<&Recipe> = match self.request.name {
            None => Vec::new(),
            Some(_) => {
                let documents = documents(site, self.request)?.into_iter();
                documents.map(|doc| site.graph.recipe(doc)).collect()
            }
        };
        let is_asked = |finding: &Diagnostic| {
            recipes.is_empty()
                || recipes.iter().any(|recipe| {
                    finding.documents.contains(&recipe.key)
                        || recipe.span.contains(finding.primary.span)
                })
        };
        let found = at_hand
            .findings(0)
            .into_iter()
            .filter(|(finding, _)| is_asked(finding));
        let found: BTreeMap<FindingSubject, Diagnostic> = found
            .map(|(it, path)| (FindingSubject::of(&it, path), it))
            .collect();
        if found.is_empty() {
            let message = "no such finding";
            let help = "`--finding` needs a rule with findings in the current state";
            return Err(Error::usage(message).with_help(help));
        }
        Ok(found)
    }

    /// Commits since which the texts on a line reach a value, or do not.
    pub(super) fn texts(
        &self,
        history: SiteHistory<'_>,
        states: SiteStates,
        place: &str,
    ) -> Result<(Checked<()>, Blame), Error> {
        let mut walk = Walk::new(history, states);
        let asked = self.begin(&mut walk, |site, _| self.texts_now(site, place))?;
        let facts = asked
            .iter()
            .enumerate()
            .map(|(index, (subject, trace))| FollowedFact {
                index,
                subject: subject.clone(),
                fact: trace.reach,
            });
        walk.follow(self.first, facts.collect());
        let following = FollowingFacts {
            fact: &reach_at,
            continues: true,
        };
        let step =
            |at: &CommitsAtHand<'_, '_>, commit, facts: &[_]| following.step(at, commit, facts);
        let (found, end) =
            self.run_walk(&mut walk, &step, |found| found.commit, &mut |_, _| Ok(()))?;
        let named = NamedCommits::of(&walk, found.iter().map(|found| found.commit));
        let mut steps: BTreeMap<usize, Vec<ReachStep>> = BTreeMap::new();
        for found in found {
            let (index, before, after) = (found.index, found.before, found.after);
            if before.is_none() && after == ReachState::NoText {
                continue;
            }
            let step = ReachStep {
                before,
                after,
                change: found.blamed(&named),
            };
            steps.entry(index).or_default().push(step);
        }
        let texts = asked
            .into_iter()
            .enumerate()
            .map(|(index, (subject, trace))| TextHistory {
                document: subject.document,
                place: trace.place.clone(),
                at: trace.at,
                reach: trace.reach,
                steps: steps.remove(&index).unwrap_or_default(),
            });
        self.end(walk, named, (BlameAnswer::Texts(texts.collect()), end))
    }

    /// Texts on a line at the start of the walk.
    fn texts_now(
        &self,
        site: &RenderedSite<'_>,
        place: &str,
    ) -> Result<Vec<(TextSubject, TextTrace)>, Error> {
        let (Some(name), Some(path)) = (&self.request.name, &self.request.path) else {
            let message = "missing arguments NAME, PATH: `--why-not` needs one value";
            return Err(Error::usage(message));
        };
        let number = file_and_line(place)?.1.ok_or_else(|| {
            let message = format!("missing line number in `{place}`");
            Error::usage(message).with_help("write it as FILE:LINE")
        })?;
        let line = Line::given(site, &self.files, number, place)?;
        let question = ValueQuestion {
            schema: self.request.schema.clone(),
            name: name.clone(),
            path: path.clone(),
        };
        let wanted = WantedValue::of(site, &question)?;
        let replay = Replay::new(site.graph, site.rendered);
        let key = |doc: DocId| site.graph.recipe(doc).key.clone();
        let texts = line.texts(site, place)?.into_iter().map(|(doc, text)| {
            let trace = trace_towards(site, &replay, doc, &text, &wanted);
            let subject = TextSubject {
                document: key(doc),
                text,
                output: key(wanted.doc),
                place: wanted.place.clone(),
            };
            (subject, trace)
        });
        Ok(texts.collect())
    }
}

impl<F> FoundFact<F> {
    fn blamed(self, named: &NamedCommits) -> BlamedChange {
        BlamedChange {
            commit: named.numbers[&self.commit],
            end: self.end,
            passed_over: named.numbers_of(&self.passed_over),
            touched: false,
            renamed_from: None,
            causes: self.causes,
            further: Vec::new(),
        }
    }
}

/// Whether a finding exists in a commit.
fn finding_at(
    at: &CommitsAtHand<'_, '_>,
    commit: CommitIndex,
    subject: &FindingSubject,
) -> Option<Known<FactAt<bool>>> {
    let texts = match at.site(commit)? {
        Known::Not(at) => return Some(Known::Not(at)),
        Known::Is(None) => None,
        Known::Is(Some(_)) => at.findings(commit)?.get(subject),
    };
    let fact = texts.is_some();
    Some(Known::Is(FactAt {
        fact,
        texts: texts.cloned().unwrap_or_default(),
    }))
}

/// Texts of the findings in a state; of several with one subject, those of the first.
pub(super) fn texts_of_findings(
    states: &StatesAtHand<'_>,
    state: usize,
) -> BTreeMap<FindingSubject, Vec<Span>> {
    let mut texts = BTreeMap::new();
    for (finding, path) in states.findings(state) {
        let labels = std::iter::once(&finding.primary).chain(&finding.related);
        let spans = labels.map(|label| label.span).collect();
        texts
            .entry(FindingSubject::of(&finding, path))
            .or_insert(spans);
    }
    texts
}

/// A text and a value, by their documents and places.
#[derive(Clone, Debug)]
struct TextSubject {
    document: DocKey,
    /// Place in the document's own data.
    text: Location,
    output: DocKey,
    place: Location,
}

/// Whether a text reaches a value in a commit.
fn reach_at(
    at: &CommitsAtHand<'_, '_>,
    commit: CommitIndex,
    subject: &TextSubject,
) -> Option<Known<FactAt<ReachState>>> {
    let nothing = |fact| {
        Some(Known::Is(FactAt {
            fact,
            texts: Vec::new(),
        }))
    };
    let site = match at.site(commit)? {
        Known::Not(at) => return Some(Known::Not(at)),
        Known::Is(None) => return nothing(ReachState::NoText),
        Known::Is(Some(site)) => site,
    };
    let of_key = |key: &DocKey| site.graph.iter().find(|(_, recipe)| recipe.key == *key);
    let Some((doc, recipe)) = of_key(&subject.document) else {
        return nothing(ReachState::NoText);
    };
    if subject.text.get(&recipe.data).is_none() {
        return nothing(ReachState::NoText);
    }
    let Some((output, _)) = of_key(&subject.output) else {
        return nothing(ReachState::NoOutput);
    };
    let replay = Replay::new(site.graph, site.rendered);
    let wanted = WantedValue {
        doc: output,
        place: subject.place.clone(),
    };
    let trace = trace_towards(&site, &replay, doc, &subject.text, &wanted);
    let rows = trace.stops.iter().chain(&trace.route);
    let texts = rows
        .flat_map(|row| row.at.iter().copied())
        .chain([trace.at])
        .collect();
    Some(Known::Is(FactAt {
        fact: trace.reach,
        texts,
    }))
}
