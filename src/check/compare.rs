//! Comparison of one site on two sides: both are rendered and judged completely, and changes are
//! traced to edits. Documents that are equal on both sides are rendered once.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use super::configuration::MetSources;
use super::edited::{SetPair, Sides};
use super::load::{LoadedSide, SetFiles};
use super::site::{
    KnownDocuments, MAX_TRIED_DOCUMENTS, OneSide, Related, SiteWork, judged, tables,
};
use super::taking::takes_away;
use super::{Checked, CheckedSite, RenderedSite, Work};
use crate::compare::reach::{Comparison, SiteChanges, SiteReach};
use crate::compare::{
    Attributed, Attribution, Change, Limits, Output, Proof, Question, Renames, Texts, Trial,
    UnreadEdits, Wanted, attribute, compare as changes_of, edits_overlapping, idle, not_comparable,
    shorten,
};
use crate::deployment::{Consequences, SiteConsequences, consequences};
use crate::diagnostic::{Diagnostic, Trait};
use crate::edit::{Edit, EditId};
use crate::graph::Graph;
use crate::guard::{Place as Guarded, guarded};
use crate::render::{Extent, Matching, Rendered, render_with};
use crate::rules::FailedStep;
use crate::source::{DocKey, FileId, RepoPath, Span};
use crate::stopwatch::{Stage, add_count, time};
use crate::system::Written;
use crate::system::cloud_init::{self, GivenFile};
use crate::system::deckhand::known::KnownToThreads;
use crate::system::deckhand::read::is_policy;
use crate::system::edits::files::FileEdit;
use crate::system::edits::{Edits, Located, Membership, SitePair};
use crate::triage::{self, FindingCauses, Findings};
use crate::yaml::diff::ListKeys;
use crate::yaml::{Node, Value, Whole};

/// Settings of a comparison.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Keys that match list items.
    pub keys: ListKeys,
    /// Limits of the search for causes.
    pub attribution: Attribution,
    /// Work on each side.
    pub work: Work,
    /// State to compare the head with.
    pub before: ComparedWith,
}

/// State that a head is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparedWith {
    /// The base of the plan.
    #[default]
    Base,
    /// Nothing, as before a first commit: there are no edits, and all findings are new.
    Nothing,
}

impl Settings {
    /// Maximum number of renderings of a site to find causes.
    pub const MAX_RENDERINGS: usize = 400;
    /// Factor of the limits on renderings if the causes are verified.
    pub const VERIFYING: usize = 10;
    /// Maximum number of documents in all these renderings of a site, where
    /// [`Settings::MIN_RENDERINGS`] are always allowed.
    pub(crate) const RENDERED_DOCUMENTS: usize = 250_000;
    /// See [`Settings::RENDERED_DOCUMENTS`].
    pub(crate) const MIN_RENDERINGS: usize = 20;

    fn attribution_of(&self, documents: usize) -> Attribution {
        let most = (Self::RENDERED_DOCUMENTS / documents.max(1)).max(Self::MIN_RENDERINGS);
        match self.attribution {
            Attribution::Followed { renderings } => Attribution::Followed {
                renderings: renderings.min(most),
            },
            Attribution::Verified { renderings } => Attribution::Verified {
                renderings: renderings.min(most * Self::VERIFYING),
            },
        }
    }

    /// Attribution with verified causes.
    pub fn verified() -> Attribution {
        Attribution::Verified {
            renderings: Self::MAX_RENDERINGS * Self::VERIFYING,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let attribution = Attribution::Followed {
            renderings: Settings::MAX_RENDERINGS,
        };
        let (keys, work) = (ListKeys::default(), Work::Judge);
        Self {
            keys,
            attribution,
            work,
            before: ComparedWith::Base,
        }
    }
}

/// Result of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// Head side; its findings are in [`Compared::findings`].
    pub checked: Checked<()>,
    /// Changes and their causes.
    pub comparison: Comparison,
    /// Findings of both sides: new, gone and unchanged.
    pub findings: triage::ComparedFindings,
    /// Findings of the gates; also among the new findings.
    pub gated: Findings,
    /// Paths of the files that differ between the sides.
    pub edited_files: BTreeSet<RepoPath>,
    /// Error in the baseline of the base, if it is unusable. All findings of the base are then
    /// treated as existing.
    pub damaged_baseline: Option<String>,
    /// Whether it depends on sites that were not read whether a finding is new or gone.
    pub(crate) depends_on_others: bool,
    /// What the changes ask of the operator of each site.
    pub consequences: Consequences,
}

impl Compared {
    /// Findings without which a comparison would mislead: unreadable input, and those of the gates.
    pub fn without_rules(&self) -> triage::ComparedFindings {
        let is_gated = |diagnostic: &Diagnostic| {
            let mut gated = self.gated.diagnostics.iter();
            gated.any(|it| {
                (it.rule.name, &it.message) == (diagnostic.rule.name, &diagnostic.message)
            })
        };
        self.findings
            .retained(|it| it.rule.is(Trait::Unreadable) || is_gated(it))
    }
}

/// Number of edits that are reverted on their own in any case.
const MIN_REVERTED: usize = 20;

/// A site on the sides that have it, while both are in memory.
pub struct BothSides<'a> {
    /// Earlier state.
    pub base: Option<RenderedSite<'a>>,
    /// Later state.
    pub head: Option<RenderedSite<'a>>,
}

impl<'a> BothSides<'a> {
    /// The side whose name reports use for the site.
    pub(crate) fn named(&self) -> Option<&RenderedSite<'a>> {
        self.head.as_ref().or(self.base.as_ref())
    }
}

/// Callback for both sides of a site.
pub(super) type PerPair<'f> = dyn Fn(&BothSides<'_>) + Sync + 'f;

impl Compared {
    /// Leaves out edits that are assumed, such as the pins that a bump moves, and the outputs that
    /// only they changed.
    pub fn leave_out(&mut self, is_assumed: &dyn Fn(&Edit) -> bool) {
        let numbers = self.comparison.keep(&|_, edit| !is_assumed(edit));
        self.renumber(&numbers, &|_| true);
    }

    /// Keeps only the wanted outputs, as [`Comparison::keep_outputs`].
    pub fn keep_outputs(&mut self, is_wanted: &dyn Fn(&DocKey) -> bool) {
        let numbers = self.comparison.keep_outputs(is_wanted);
        self.renumber(&numbers, is_wanted);
    }

    fn renumber(&mut self, numbers: &[Option<EditId>], is_wanted: &dyn Fn(&DocKey) -> bool) {
        self.findings.renumber(numbers);
        self.consequences.keep(is_wanted, numbers, &self.comparison);
    }

    /// Leaves out outputs that are only rendered, as [`Comparison::keep_deployed`].
    pub fn keep_deployed(&mut self) {
        let numbers = self.comparison.keep_deployed();
        self.renumber(&numbers, &|_| true);
    }

    /// Adds a finding of the gates, with the edit that it is about.
    pub fn add_gated(&mut self, finding: Diagnostic, edit: Option<EditId>) {
        self.gated.diagnostics.push(finding.clone());
        self.findings.add(finding, edit, &self.checked.sources);
    }
}

/// Result for one site.
pub(super) struct ComparedSite {
    pub(super) checked: Option<CheckedSite<()>>,
    pub(super) found: SiteChanges,
    pub(super) base_findings: Vec<Diagnostic>,
    pub(super) head_findings: Vec<Diagnostic>,
    /// Edits that matter for findings of the head which the base does not have, by the finding's
    /// index.
    pub(super) causes: BTreeMap<usize, FindingCauses>,
    /// Edits that take something away and cause findings, without which the site was not rendered.
    pub(super) untried: Vec<EditId>,
    /// Edits of documents that the site has on one of the sides.
    pub(super) concerned: Vec<EditId>,
    /// Of the base and the head.
    pub(super) met: [MetSources; 2],
    /// What the changes ask of the site's operator.
    pub(super) consequences: SiteConsequences,
}

impl ComparedSite {
    /// A site with its number of outputs, without findings or changes.
    fn unchanged(reach: SiteReach) -> Self {
        Self {
            checked: None,
            found: SiteChanges::unchanged(reach),
            base_findings: Vec::new(),
            head_findings: Vec::new(),
            causes: BTreeMap::new(),
            untried: Vec::new(),
            concerned: Vec::new(),
            met: Default::default(),
            consequences: SiteConsequences::default(),
        }
    }
}

/// What a compared site leaves, to be freed before the next one, or at the end with everything else.
#[derive(Default)]
pub(super) struct RenderedSides<'a> {
    _base: Option<OneSide<'a>>,
    _head: Option<OneSide<'a>>,
    _of_site: KnownDocuments,
}

/// One site during a comparison.
pub(super) struct SiteRun<'r, 'a> {
    pub(super) sides: &'r Sides<'a>,
    pub(super) settings: &'r Settings,
    pub(super) pair: &'r SetPair<'a>,
    pub(super) edits: &'r Edits<'a>,
    pub(super) unedited: &'a [Located<'a>],
    /// Documents that several sites have in common.
    pub(super) of_run: &'r KnownDocuments,
    pub(super) limits: Limits,
}

impl<'a> SiteRun<'_, 'a> {
    /// Renders, judges and compares the site. After an internal failure, reports it for this site;
    /// other sites are not affected.
    pub(super) fn guarded(&self, per_site: &PerPair<'_>) -> (ComparedSite, RenderedSides<'a>) {
        let name = self.pair.name.as_deref().unwrap_or_default();
        let outcome = guarded(Guarded::Site(name), || self.run(per_site));
        outcome.unwrap_or_else(|| {
            let failed = self.pair.internal_error_finding(FailedStep::Checking);
            let nothing = ComparedSite::unchanged(self.reach(None, None));
            (
                ComparedSite {
                    head_findings: failed.into_iter().collect(),
                    ..nothing
                },
                RenderedSides::default(),
            )
        })
    }

    fn run(&self, per_site: &PerPair<'_>) -> (ComparedSite, RenderedSides<'a>) {
        let name = self.pair.name.as_deref().unwrap_or_default();
        let take = |sides: &BothSides<'_>| guarded(Guarded::Taking(name), || per_site(sides));
        let of_site = KnownDocuments::default();
        let (mut compared, taken, [base, head]) = self.compared_and(&of_site, &take);
        if taken.is_none() {
            compared
                .head_findings
                .extend(self.pair.internal_error_finding(FailedStep::TakingData));
        }
        let rendered = RenderedSides {
            _base: base,
            _head: head,
            _of_site: of_site,
        };
        (compared, rendered)
    }

    /// The compared site, whether `take` finished, and the base and the head. Documents that both have
    /// are kept in `of_site`.
    fn compared_and(
        &self,
        of_site: &KnownDocuments,
        take: &dyn Fn(&BothSides<'_>) -> Option<()>,
    ) -> (ComparedSite, Option<()>, [Option<OneSide<'a>>; 2]) {
        let known = [self.of_run, of_site];
        let sources = &self.sides.loaded.sources;
        if let (ComparedWith::Nothing, Some(head)) = (self.settings.before, self.pair.head) {
            let side = self.one_side(self.sides.head, head, &known, None);
            let taken = take(&BothSides {
                base: None,
                head: Some(side.at_hand(sources)),
            });
            let reach = self.reach(None, Some(&side));
            let compared = ComparedSite {
                base_findings: Vec::new(),
                ..self.unchanged(head, &side, reach)
            };
            return (compared, taken, [None, Some(side)]);
        }
        if let (Some(base), Some(head)) = (self.pair.base, self.pair.head)
            && base.files == head.files
            && base.parts == head.parts
            && self.unread().is_empty()
        {
            let side = self.one_side(self.sides.head, head, &known, None);
            let at_hand = || Some(side.at_hand(sources));
            let taken = take(&BothSides {
                base: at_hand(),
                head: at_hand(),
            });
            let reach = self.reach(Some(&side), Some(&side));
            return (
                self.unchanged(head, &side, reach),
                taken,
                [None, Some(side)],
            );
        }
        let mut head = self
            .pair
            .head
            .map(|set| self.one_side(self.sides.head, set, &known, None));
        let of_head = head.as_ref();
        let mut base = self
            .pair
            .base
            .map(|set| self.one_side(self.sides.base, set, &known, of_head));
        let taken = take(&BothSides {
            base: base.as_ref().map(|side| side.at_hand(sources)),
            head: head.as_ref().map(|side| side.at_hand(sources)),
        });
        let name = self.pair.name.as_deref().unwrap_or_default();
        let compared = guarded(Guarded::Comparison(name), || {
            self.compared(base.as_ref(), head.as_ref(), &known)
        });
        let mut compared =
            compared.unwrap_or_else(|| self.not_compared(base.as_ref(), head.as_ref()));
        let [of_base, of_head] = [&mut base, &mut head].map(|side| {
            side.as_mut()
                .map(|side| mem::take(&mut side.findings))
                .unwrap_or_default()
        });
        compared.base_findings = of_base;
        // Causes refer to findings of the head by index, so they go first.
        compared.head_findings.splice(0..0, of_head);
        (compared, taken, [base, head])
    }

    /// Result for a site whose comparison failed, without the findings of its sides.
    fn not_compared(&self, base: Option<&OneSide<'a>>, head: Option<&OneSide<'a>>) -> ComparedSite {
        let head_findings = self
            .pair
            .internal_error_finding(FailedStep::Comparing)
            .into_iter()
            .collect();
        ComparedSite {
            checked: self.checked(head),
            head_findings,
            met: met([base, head]),
            ..ComparedSite::unchanged(self.reach(base, head))
        }
    }

    fn checked(&self, head: Option<&OneSide<'a>>) -> Option<CheckedSite<()>> {
        let head = head?;
        let checked = self.pair.head?.checked(self.sides.loaded, head.outputs());
        let certificates = head.certificates.clone();
        Some(CheckedSite {
            certificates,
            ..checked
        })
    }

    fn reach(&self, base: Option<&OneSide<'a>>, head: Option<&OneSide<'a>>) -> SiteReach {
        let outputs = |side: Option<&OneSide<'_>>| side.map(OneSide::outputs);
        self.pair.reach([base, head].map(outputs))
    }

    /// Calls `answer` with the question about both sides, all changes without causes, and a
    /// renderer for the site with some of the edits.
    fn with_question<T>(
        &self,
        (base, head): (Option<&OneSide<'a>>, Option<&OneSide<'a>>),
        known: &[&KnownDocuments],
        answer: impl FnOnce(&Question<'_>, Vec<Change>, &TrialRenderer<'_, 'a>) -> T,
    ) -> T {
        let (before, after) = (base.map(OneSide::side), head.map(OneSide::side));
        let (site, concerned) = time(Stage::Pair, || {
            let site = self.site_pair();
            let concerned = self.edits.of_site(&site);
            (site, concerned)
        });
        let renderer = TrialRenderer {
            edits: self.edits,
            site: &site,
            sides: self.sides,
            texts: KnownToThreads::default(),
            known,
            earlier: [base, head],
            has_failed: AtomicBool::new(false),
        };
        let rerender = |chosen: &[EditId], wanted: Wanted<'_>| {
            let extent = |graph: &Graph| Extent::Only(wanted(graph));
            let is_chosen = |edit| chosen.binary_search(&edit).is_ok();
            renderer.with(&is_chosen, &extent, trial)
        };
        let keys = &self.settings.keys;
        let renames = Renames::of(&self.edits.edits, &concerned);
        let changes = time(Stage::Differ, || {
            changes_of(before.as_ref(), after.as_ref(), &renames, keys)
        });
        add_count(Stage::Differ, || changes.len());
        let sides = before.iter().chain(&after);
        let documents = sides
            .map(|side| side.graph.recipes.len())
            .max()
            .unwrap_or_default();
        let question = Question {
            base: before.as_ref(),
            head: after.as_ref(),
            edits: &self.edits.edits,
            concerned: &concerned,
            rerender: &rerender,
            renames: &renames,
            keys,
            may_relate: &may_relate,
            is_complete: true,
            attribution: self.settings.attribution_of(documents),
            limits: self.limits,
            cancel: &self.sides.plan.control.cancel,
        };
        answer(&question, changes, &renderer)
    }

    /// The changes between both sides that `focus` keeps, with their causes.
    pub(super) fn traced(
        &self,
        sides: (Option<&OneSide<'a>>, Option<&OneSide<'a>>),
        known: &[&KnownDocuments],
        focus: impl FnOnce(Vec<Change>) -> Vec<Change>,
    ) -> Vec<Change> {
        self.with_question(sides, known, |question, changes, _| {
            let mut changes = focus(changes);
            let question = Question {
                is_complete: false,
                ..*question
            };
            time(Stage::Cause, || attribute(&question, &mut changes));
            changes
        })
    }

    /// The compared site, without the findings of its sides.
    fn compared(
        &self,
        base: Option<&OneSide<'a>>,
        head: Option<&OneSide<'a>>,
        known: &[&KnownDocuments],
    ) -> ComparedSite {
        self.with_question((base, head), known, |question, changes, renderer| {
            self.explained((base, head), known, (question, changes, renderer))
        })
    }

    fn explained(
        &self,
        (base, head): (Option<&OneSide<'a>>, Option<&OneSide<'a>>),
        known: &[&KnownDocuments],
        (question, mut changes, renderer): (&Question<'_>, Vec<Change>, &TrialRenderer<'_, 'a>),
    ) -> ComparedSite {
        let Question {
            base: before,
            head: after,
            concerned,
            renames,
            ..
        } = *question;
        let mut attributed = time(Stage::Cause, || attribute(question, &mut changes));
        shorten(question, &mut changes);
        self.of_run.routes.share(&mut changes);
        let unread = self.unread();
        if !unread.is_empty() {
            let sets: BTreeMap<EditId, Option<BTreeSet<Arc<str>>>> = unread
                .iter()
                .map(|(edit, _)| (*edit, self.sets_with(*edit)))
                .collect();
            let may_change = |edit: EditId, output: &DocKey| match &sets[&edit] {
                Some(sets) => *output.schema == *cloud_init::OUTPUT && sets.contains(&output.name),
                None => true,
            };
            let edits = UnreadEdits {
                edits: &unread,
                may_change: &may_change,
            };
            changes = not_comparable((before, after), renames, changes, edits);
            let reaches = changes.iter().flat_map(|change| &*change.edits);
            let reaches: BTreeSet<EditId> = reaches.copied().collect();
            let unread: BTreeSet<EditId> = unread.iter().map(|(edit, _)| *edit).collect();
            // An edit of unknown content has no proof and no shield.
            attributed
                .shields
                .retain(|(edit, _)| !unread.contains(edit));
            attributed.shielded.retain(|edit| !unread.contains(edit));
            attributed.proofs.retain(|edit, _| !unread.contains(edit));
            let known = unread.intersection(&reaches);
            attributed
                .proofs
                .extend(known.map(|edit| (*edit, Proof::Followed)));
        }
        let consequences = self.deployed(&mut changes, [base, head]);
        let idle = idle(question, &attributed);
        let Attributed {
            proofs,
            kept,
            shielded,
            shields,
            unlisted,
            faults,
        } = attributed;
        let found = SiteChanges {
            reach: self.reach(base, head),
            changes,
            unlisted,
            shielded,
            shields,
            proofs,
            kept,
            idle,
            faults,
        };
        let [base_findings, head_findings] =
            [base, head].map(|side| side.map(|side| &side.findings[..]).unwrap_or_default());
        let loaded = self.sides.loaded;
        let findings = |is_chosen: &dyn Fn(EditId) -> bool| {
            if self.sides.plan.control.cancel.is_cancelled() {
                // The run ends with an error, so nothing reads the result.
                return Vec::new();
            }
            renderer.with(is_chosen, &|_| Extent::All, |related, rendered| {
                let on_demand = (&OnceLock::new(), &OnceLock::new());
                judged(&related.facts(loaded, &rendered, on_demand), known)
            })
        };
        let documents = head.map_or(0, |head| head.related.site.documents.len());
        let (causes, untried) = time(Stage::Cause, || {
            self.causes_of_findings(
                (base_findings, head_findings),
                (concerned, documents),
                &findings,
            )
        });
        let failed = renderer
            .has_failed
            .load(Relaxed)
            .then_some(FailedStep::FindingCauses);
        let failed = failed.and_then(|failed| self.pair.internal_error_finding(failed));
        ComparedSite {
            checked: self.checked(head),
            found,
            base_findings: Vec::new(),
            head_findings: failed.into_iter().collect(),
            causes,
            untried,
            concerned: concerned
                .iter()
                .copied()
                .chain(unread.into_iter().map(|(id, _)| id))
                .collect(),
            met: met([base, head]),
            consequences,
        }
    }

    /// Sets whether changed outputs are deployed, on the head side if they exist there, and finds what
    /// the changes ask for.
    fn deployed(
        &self,
        changes: &mut [Change],
        sides: [Option<&OneSide<'_>>; 2],
    ) -> SiteConsequences {
        if changes.is_empty() {
            return SiteConsequences::default();
        }
        let sides = sides.map(|side| side.map(OneSide::deployed));
        let [base, head] = sides.each_ref().map(Option::as_ref);
        for change in &mut *changes {
            let Output {
                base: before,
                head: after,
            } = change.output;
            let known = after.zip(head).or(before.zip(base));
            change.deployed = known
                .map(|(doc, side)| side.deployment.of_output(doc, &change.key.schema))
                .unwrap_or_default();
        }
        let configuration = &self.sides.plan.options.configuration;
        let armada = configuration.armada.of(self.pair.name.as_deref());
        consequences([base, head], changes, &configuration.consequences, armada)
    }

    /// Edits that matter for findings of the head which the base does not have, by the finding's
    /// index; and edits that take something away and cause findings, without which the site, with this
    /// number of documents, was not rendered. `findings` are those with some of the edits.
    fn causes_of_findings(
        &self,
        (base, head): (&[Diagnostic], &[Diagnostic]),
        (concerned, documents): (&[EditId], usize),
        findings: &FindingsOfTrial<'_>,
    ) -> (BTreeMap<usize, FindingCauses>, Vec<EditId>) {
        let findings_with = |chosen| findings(&|edit| edit == chosen);
        let mut causes = self.causes(base, head, concerned, &findings_with);
        let mut tried = self.taking_edits(&causes);
        let most = (MAX_TRIED_DOCUMENTS / documents.max(1)).max(MIN_REVERTED);
        let untried = tried.split_off(most.min(tried.len()));
        let findings_without = |reverted| match concerned {
            // Without its only edit, the site is that of the base.
            [_] => Vec::new(),
            _ => findings(&|edit| edit != reverted),
        };
        add_without(&mut causes, head, &tried, &findings_without);
        (causes, untried)
    }

    /// Edits of unreadable files that the site reads on one of the sides.
    fn unread(&self) -> Vec<(EditId, &Edit)> {
        let mut files = self.edits.unread().peekable();
        if files.peek().is_none() {
            return Vec::new();
        }
        let sets: Vec<&SetFiles> = self.pair.base.into_iter().chain(self.pair.head).collect();
        let members = self.pair.memberships();
        let makes = |file: &FileEdit<'_>| {
            let mut ids = file.base.iter().chain(&file.head).map(|at| at.file);
            file.places.iter().any(|place| {
                members
                    .iter()
                    .flatten()
                    .any(|member| member.has_at(file.repository, *place))
            }) || ids.any(|id| sets.iter().any(|set| set.parts.binary_search(&id).is_ok()))
        };
        let made = files.filter(|(file, _)| makes(file));
        let mut edits: Vec<_> = made
            .map(|(_, edit)| (edit, &self.edits.edits[edit.index()]))
            .collect();
        edits.sort_unstable_by_key(|(edit, _)| *edit);
        edits
    }

    /// The sets whose parts an unreadable file contains, on either side; `None` for a file of
    /// documents.
    fn sets_with(&self, edit: EditId) -> Option<BTreeSet<Arc<str>>> {
        let (file, _) = self.edits.unread().find(|(_, id)| *id == edit)?;
        if !file.places.is_empty() {
            return None;
        }
        let ids: Vec<FileId> = file
            .base
            .iter()
            .chain(&file.head)
            .map(|at| at.file)
            .collect();
        let Sides {
            plan,
            loaded,
            base,
            head,
            ..
        } = self.sides;
        let sides = [(base, self.pair.base), (head, self.pair.head)];
        let sets = sides
            .into_iter()
            .filter_map(|(side, set)| Some(loaded.sets(plan, side, set?)));
        let with_file = sets.flatten().filter(|set| {
            let mut given = set.sources.iter().flat_map(|source| &source.files);
            given.any(|given| ids.contains(&given.at.file))
        });
        Some(with_file.map(|set| set.name).collect())
    }

    /// Result for a site with the same files on both sides.
    fn unchanged(&self, set: &'a SetFiles, side: &OneSide<'a>, reach: SiteReach) -> ComparedSite {
        ComparedSite {
            checked: Some(set.checked(self.sides.loaded, side.outputs())),
            base_findings: side.findings.clone(),
            head_findings: side.findings.clone(),
            met: met([Some(side); 2]),
            ..ComparedSite::unchanged(reach)
        }
    }

    /// One side; `other` is the other one, if it was rendered before.
    fn one_side(
        &self,
        side: &'a LoadedSide,
        set: &'a SetFiles,
        known: &[&KnownDocuments],
        other: Option<&OneSide<'a>>,
    ) -> OneSide<'a> {
        OneSide::of(
            self.sides.plan,
            self.sides.loaded,
            (side, set),
            known,
            other,
            &SiteWork::of(self.settings.work),
        )
    }

    fn site_pair(&self) -> SitePair<'a> {
        // An added part belongs to the site as soon as its edit is applied, so both sides list it;
        // globs decide which sets contain it.
        let sides = self.pair.base.into_iter().chain(self.pair.head);
        let parts: BTreeSet<RepoPath> = sides.flat_map(|set| &set.part_paths).cloned().collect();
        let [base, head] = self.pair.memberships().map(|membership| {
            membership.map(|membership| Membership {
                parts: parts.clone(),
                ..membership
            })
        });
        let definition = self.pair.name.as_ref().and_then(|name| {
            let (head, base) = (self.sides.head, self.sides.base);
            head.definition_of(name)
                .or_else(|| base.definition_of(name))
        });
        SitePair {
            base,
            head,
            definition: definition
                .map(|path| self.edits.of_definition(&path))
                .unwrap_or_default(),
            unedited: self.unedited,
        }
    }

    /// The edits that take something away, of those that cause findings.
    fn taking_edits(&self, causes: &BTreeMap<usize, FindingCauses>) -> Vec<EditId> {
        let edits = causes.values().flat_map(|it| &it.caused).copied();
        let edits: BTreeSet<EditId> = edits.collect();
        let takes_away = |edit: &EditId| takes_away(&self.edits.edits[edit.index()]);
        edits.into_iter().filter(takes_away).collect()
    }

    /// Edits that caused findings of the head which the base does not have: the edits at the
    /// finding's places, or else those that cause it on their own.
    fn causes(
        &self,
        base: &[Diagnostic],
        head: &[Diagnostic],
        concerned: &[EditId],
        findings_with: &dyn Fn(EditId) -> Vec<Diagnostic>,
    ) -> BTreeMap<usize, FindingCauses> {
        /// Maximum number of edits that are tried on their own.
        const MAX_EDITS: usize = 50;
        let known: HashSet<Subject> = base.iter().map(subject).collect();
        let new = head
            .iter()
            .enumerate()
            .filter(|(_, finding)| !known.contains(&subject(finding)));
        let texts =
            LazyCell::new(|| Texts::of(&self.edits.edits, concerned, |edit| edit.head.as_ref()));
        let mut tried: BTreeMap<EditId, HashSet<Subject>> = BTreeMap::new();
        let mut causes_alone = |edit: EditId, finding: &Diagnostic| {
            let findings = tried
                .entry(edit)
                .or_insert_with(|| findings_with(edit).iter().map(subject).collect());
            findings.contains(&subject(finding))
        };
        new.map(|(index, finding)| {
            let there = match concerned {
                [only] => vec![*only],
                _ => at_places(finding, &texts),
            };
            if !there.is_empty() {
                return (index, FindingCauses::known(there));
            }
            let edits = concerned.iter().copied().take(MAX_EDITS);
            let caused = edits.filter(|edit| causes_alone(*edit, finding)).collect();
            let is_limited = concerned.len() > MAX_EDITS;
            (
                index,
                FindingCauses {
                    is_limited,
                    ..FindingCauses::known(caused)
                },
            )
        })
        .collect()
    }
}

/// Known missing sources that a site needs on each side.
fn met(sides: [Option<&OneSide<'_>>; 2]) -> [MetSources; 2] {
    sides.map(|side| {
        side.map(|side| side.related.met.clone())
            .unwrap_or_default()
    })
}

/// Adds to the causes of the head's findings each of the `tried` edits that they need: they do not
/// occur without it.
fn add_without(
    causes: &mut BTreeMap<usize, FindingCauses>,
    head: &[Diagnostic],
    tried: &[EditId],
    findings_without: &dyn Fn(EditId) -> Vec<Diagnostic>,
) {
    for edit in tried {
        let left = findings_without(*edit);
        let left: HashSet<_> = left.iter().flat_map(identities).collect();
        for (index, causes) in causes.iter_mut() {
            if !identities(&head[*index])
                .iter()
                .any(|identity| left.contains(identity))
            {
                causes.without.push(*edit);
            }
        }
    }
}

/// Identities of a finding in a site with other edits, where its place or its message may differ.
fn identities(finding: &Diagnostic) -> [(&'static str, Result<Span, String>); 2] {
    let rule = finding.rule.name;
    [
        (rule, Ok(finding.primary.span)),
        (rule, Err(finding.message.clone())),
    ]
}

/// Whether a document that is added or removed may be a policy, which relates all documents.
fn may_relate(edit: &Edit) -> bool {
    let schema = &*edit.document.schema;
    is_policy(schema) || !schema.contains('/')
}

/// Identity of a finding across two renderings of a site.
type Subject = (&'static str, String, Option<DocKey>);

fn subject(finding: &Diagnostic) -> Subject {
    (
        finding.rule.name,
        finding.message.clone(),
        finding.documents.first().cloned(),
    )
}

/// Edits at the places of a finding.
pub(super) fn at_places(finding: &Diagnostic, texts: &Texts) -> Vec<EditId> {
    let labels = std::iter::once(&finding.primary).chain(&finding.related);
    edits_overlapping(labels.map(|label| (texts, label.span)))
}

/// Findings of a site with the edits that a function chooses.
type FindingsOfTrial<'f> = dyn Fn(&dyn Fn(EditId) -> bool) -> Vec<Diagnostic> + 'f;

/// Renders a site with some of the edits.
struct TrialRenderer<'t, 'a> {
    edits: &'t Edits<'a>,
    site: &'t SitePair<'a>,
    sides: &'t Sides<'t>,
    texts: KnownToThreads,
    known: &'t [&'t KnownDocuments],
    earlier: [Option<&'t OneSide<'a>>; 2],
    /// Whether layercake failed at a document that neither side has in this form.
    has_failed: AtomicBool,
}

impl TrialRenderer<'_, '_> {
    /// Result of `look` for the site with the edits that are `chosen`.
    fn with<T>(
        &self,
        chosen: &dyn Fn(EditId) -> bool,
        extent: &dyn Fn(&Graph) -> Extent,
        look: impl FnOnce(Related<'_>, Rendered) -> T,
    ) -> T {
        add_count(Stage::Cause, || 1);
        let versions = self
            .texts
            .lend(|known| self.edits.apply(self.site, chosen, known));
        let mut documents = Vec::new();
        let mut parts: BTreeMap<&RepoPath, GivenFile<'_>> = BTreeMap::new();
        for (path, version) in &versions {
            match version.document() {
                Written::Deckhand(document) => documents.push(document),
                Written::Part(part) => {
                    let given = || GivenFile {
                        at: part.at,
                        parts: Vec::new(),
                        read: None,
                    };
                    let given = parts.entry(path).or_insert_with(given);
                    given.parts.extend((!part.is_nothing()).then_some(part));
                }
            }
        }
        let name = self.site.head.as_ref().or(self.site.base.as_ref());
        let name = name.and_then(|membership| membership.scope.site.clone());
        let membership = self.edits.membership(self.site, chosen);
        let site_type = membership.and_then(|membership| membership.scope.site_type.as_deref());
        let (plan, loaded) = (self.sides.plan, self.sides.loaded);
        let sets = loaded.sets_of(plan, (name.as_deref(), site_type), &parts);
        let (documents, sharers) = ((name, documents, sets), self.sides.head.all_sets());
        let earlier = self.earlier.into_iter().flatten();
        let related = Related::of(plan, documents, sharers, earlier);
        let known = (&tables(plan, self.known)[..], Matching::Values);
        let rendered = render_with(&related.graph, known, extent(&related.graph));
        self.has_failed.fetch_or(rendered.has_failed(), Relaxed);
        look(related, rendered)
    }
}

fn trial(related: Related<'_>, rendered: Rendered) -> Trial {
    let written = related
        .site
        .documents
        .iter()
        .map(|document| document.whole().clone());
    let nothing = |_| Whole::Held(Node::new(Value::Null, Span::point(FileId::default(), 0)));
    let written = written.chain(related.sets.iter().map(nothing)).collect();
    Trial {
        written,
        graph: related.graph,
        rendered,
    }
}
