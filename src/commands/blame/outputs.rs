//! Outputs or the value that are requested, and the answer about their commits.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use indexmap::IndexSet;

use super::values::{
    AfterChange, FollowedOutput, FollowedValue, FollowingValues, FoundChange, FoundValue,
};
use super::walk::{CommitsAtHand, Walk};
use super::{BlameRequest, BlameRun, FoundSteps, NamedCommits};
use crate::ask::{self, ValueQuestion};
use crate::check::{Checked, RenderedSite, SiteStates};
use crate::commands::history::{CommitIndex, PinChange, SiteHistory};
use crate::edit::EditId;
use crate::error::Error;
use crate::graph::{DocId, Recipe};
use crate::report::View;
use crate::report::answer::blame::{
    Blame, BlameAnswer, BlameCause, BlameEnd, BlamedChange, BlamedOutput, BlamedValue,
    FurtherCommit, ValueHistory, ValueStep,
};
use crate::source::{DocKey, Span};
use crate::yaml::Node;
use crate::yaml::emit::to_flow;
use crate::yaml::path::{Location, children};

/// A requested output, with the places of its values.
struct RequestedOutput {
    document: DocKey,
    at: Span,
    data: Node,
    /// The output's root comes first, unless a value is requested.
    places: Vec<Arc<Location>>,
    is_cut: bool,
}

impl BlameRun<'_> {
    /// Commits of the values of outputs, or the history of one value.
    pub(super) fn values(
        &self,
        history: SiteHistory<'_>,
        states: SiteStates,
        found_steps: &mut FoundSteps<'_>,
    ) -> Result<(Checked<()>, Blame), Error> {
        let mut walk = Walk::new(history, states);
        let asked = self.begin(&mut walk, |site, _| requested(site, self.request))?;
        walk.follow(self.first, followed(&asked));
        let after_change = match self.request.path {
            Some(_) => AfterChange::Continue,
            None => AfterChange::Stop,
        };
        let following = FollowingValues {
            keys: &self.settings.keys,
            after_change,
        };
        let (found, end) = self.run_walk(
            &mut walk,
            &|at, commit, outputs| following.step(at, commit, outputs),
            |change| change.commit,
            &mut |walk, found| {
                self.add_commits_of_further(walk, found)?;
                if self.request.path.is_some() {
                    self.report_steps(walk, found, &asked[0], found_steps);
                }
                Ok(())
            },
        )?;
        let named = NamedCommits::of(&walk, found.iter().map(|change| change.commit));
        let answer = match &self.request.path {
            Some(_) => {
                let history = self.value(&found, &asked[0], &named);
                ensure_there(&history)?;
                BlameAnswer::Value(history)
            }
            None => BlameAnswer::Outputs(outputs(found, asked, &named)),
        };
        self.end(walk, named, (answer, end))
    }
}

type OutputsWalk<'w> = Walk<'w, FollowedOutput>;

impl BlameRun<'_> {
    /// Passes on steps of the history of a value.
    fn report_steps(
        &self,
        walk: &OutputsWalk<'_>,
        found: &[FoundChange],
        output: &RequestedOutput,
        found_steps: &mut FoundSteps<'_>,
    ) {
        let named = NamedCommits::of(walk, found.iter().map(|change| change.commit));
        let mut history = self.value(found, output, &named);
        history
            .steps
            .retain(|step| step.before.is_some() || step.after.is_some());
        if history.steps.is_empty() {
            return;
        }
        let answer = BlameAnswer::Value(history);
        let (sources, secrets, opaque) = walk.states().texts();
        let part = Blame {
            commits: named.commits,
            ..self.blame(answer)
        };
        found_steps(&part, &View::new(sources, &secrets, &opaque));
    }

    /// History of the value of an output from the changes found so far.
    fn value(
        &self,
        found: &[FoundChange],
        output: &RequestedOutput,
        named: &NamedCommits,
    ) -> ValueHistory {
        let steps = found.iter().flat_map(|change| {
            change.values.iter().map(|value| ValueStep {
                change: blamed(change, value.causes.clone(), value.further.clone(), named),
                before: value.before.clone(),
                after: value.after.clone(),
            })
        });
        let place = &**output.places.first().expect("a value was requested");
        ValueHistory {
            document: output.document.clone(),
            data: output.data.clone(),
            value: place.get(&output.data).cloned(),
            keys: Arc::new(
                self.settings
                    .keys
                    .of_value(&output.document.schema, place.clone()),
            ),
            place: place.clone(),
            steps: steps.collect(),
            when: None,
        }
    }

    /// Adds the commits of further repositories that changed values, for sites whose pins changed
    /// in a commit.
    fn add_commits_of_further(
        &self,
        walk: &mut OutputsWalk<'_>,
        found: &mut [FoundChange],
    ) -> Result<(), Error> {
        let mut walked: Vec<((CommitIndex, CommitIndex), Vec<PinChange>)> = Vec::new();
        for change in &*found {
            let Some(base) = change.base else { continue };
            let pair = (base, change.commit);
            if walked.iter().all(|(known, _)| *known != pair) {
                let pins = walk.history.pin_changes(base, change.commit)?;
                walked.push((pair, pins));
            }
        }
        for ((base, commit), pins) in walked {
            let is_here =
                |change: &&mut FoundChange| change.base == Some(base) && change.commit == commit;
            for pins in pins {
                let mut changes: Vec<&mut FoundChange> = found.iter_mut().filter(is_here).collect();
                let own = walk.history.again(commit)?;
                let states = walk.lend_states();
                walk.take_back(self.add_further(own, states, &pins, &mut changes)?);
            }
        }
        Ok(())
    }

    /// Adds the commits of one further repository.
    fn add_further(
        &self,
        (own, commit): (SiteHistory<'_>, CommitIndex),
        states: SiteStates,
        pins: &PinChange,
        changes: &mut [&mut FoundChange],
    ) -> Result<SiteStates, Error> {
        let Some(mut history) = own.of_further(commit, pins)? else {
            return Ok(states);
        };
        let first = history.after(pins)?;
        let outputs = changes.iter().map(|change| FollowedOutput {
            key: change.key.clone(),
            values: change.values.iter().map(FoundValue::followed).collect(),
        });
        let outputs = outputs.collect();
        let mut walk = Walk::new(history, states);
        walk.follow(first, outputs);
        let following = FollowingValues {
            keys: &self.settings.keys,
            after_change: AfterChange::Stop,
        };
        let step =
            |at: &CommitsAtHand<'_, '_>, commit, outputs: &[_]| following.step(at, commit, outputs);
        let (found, _) = self.run_walk(
            &mut walk,
            &step,
            |change: &FoundChange| change.commit,
            &mut |_, _| Ok(()),
        )?;
        for further in found
            .iter()
            .filter(|further| further.end == BlameEnd::Changed)
        {
            let Some(commit) = &walk.history.commit(further.commit).commit else {
                continue;
            };
            let indexes = || further.values.iter().map(|value| value.index);
            for value in changes.iter_mut().flat_map(|change| &mut change.values) {
                if indexes().any(|index| index == value.index) {
                    let (repository, commit) = (pins.given.clone(), commit.clone());
                    value.further.push(FurtherCommit { repository, commit });
                }
            }
        }
        Ok(walk.lend_states())
    }
}

/// Documents that a request names.
pub(super) fn documents(
    site: &RenderedSite<'_>,
    request: &BlameRequest,
) -> Result<Vec<DocId>, Error> {
    let schema = &request.schema;
    let Some(name) = &request.name else {
        let of_schema = |recipe: &Recipe| schema.is_empty() || **schema == *recipe.key.schema;
        let outputs = site.graph.outputs().filter(|(_, recipe)| of_schema(recipe));
        return Ok(outputs.map(|(doc, _)| doc).collect());
    };
    let path = request.path.clone().unwrap_or_default();
    let question = ValueQuestion {
        schema: schema.clone(),
        name: name.clone(),
        path,
    };
    Ok(vec![ask::document(site, &question)?])
}

fn requested(
    site: &RenderedSite<'_>,
    request: &BlameRequest,
) -> Result<Vec<RequestedOutput>, Error> {
    /// Maximum number of values of an output that are traced.
    const MAX_VALUES: usize = 20_000;
    let mut asked = Vec::new();
    for doc in documents(site, request)? {
        let recipe = site.graph.recipe(doc);
        let Some(data) = site.rendered.data(doc) else {
            continue;
        };
        let (mut places, mut is_cut) = (vec![Arc::default()], false);
        match &request.path {
            Some(path) => places = vec![Arc::new(ask::place(data, path)?)],
            None => {
                add_values(data, &mut Location::root(), MAX_VALUES, &mut places);
                is_cut = places.len() > MAX_VALUES;
            }
        }
        let (document, at, data) = (recipe.key.clone(), recipe.span, data.clone());
        asked.push(RequestedOutput {
            document,
            at,
            data,
            places,
            is_cut,
        });
    }
    Ok(asked)
}

/// Adds the places of everything written as one value: scalars, empty mappings and lists, secrets.
fn add_values(node: &Node, here: &mut Location, most: usize, places: &mut Vec<Arc<Location>>) {
    let is_whole = node.secret || children(node).next().is_none();
    if is_whole && places.len() <= most {
        places.push(Arc::new(here.clone()));
    }
    for (piece, child) in children(node).filter(|_| !is_whole) {
        if places.len() > most {
            return;
        }
        here.0.push(piece);
        add_values(child, here, most, places);
        here.0.pop();
    }
}

/// Values to trace, numbered from the first value of the first output.
fn followed(asked: &[RequestedOutput]) -> Vec<FollowedOutput> {
    let mut next = 0;
    let mut of_output = |output: &RequestedOutput| {
        let values = output.places.iter().map(|place| {
            next += 1;
            FollowedValue {
                index: next - 1,
                place: place.clone(),
            }
        });
        FollowedOutput {
            key: output.document.clone(),
            values: values.collect(),
        }
    };
    asked.iter().map(&mut of_output).collect()
}

/// Fails if the value does not exist and never did.
fn ensure_there(history: &ValueHistory) -> Result<(), Error> {
    let was_there = history
        .steps
        .iter()
        .any(|step| step.before.is_some() || step.after.is_some());
    if history.value.is_some() || was_there {
        return Ok(());
    }
    let (schema, name) = (&history.document.schema, &history.document.name);
    let message = format!(
        "no value at `{}` of {schema} {name}, now or earlier",
        history.place
    );
    Err(ask::with_place_help(message, &history.data, &history.place))
}

fn outputs(
    found: Vec<FoundChange>,
    asked: Vec<RequestedOutput>,
    named: &NamedCommits,
) -> Vec<BlamedOutput> {
    let (of_values, changes) = changes_of_values(found, named);
    let mut index = 0;
    let mut outputs = Vec::new();
    for output in asked {
        let mut own = OwnChanges {
            all: &changes,
            own: IndexSet::new(),
        };
        let mut change = || {
            index += 1;
            of_values
                .get(&(index - 1))
                .map(|change| own.number_of(*change))
        };
        let last = output.places.first().and_then(|_| change());
        let places = output.places.into_iter().skip(1);
        let values = places
            .map(|place| BlamedValue {
                place,
                change: change(),
            })
            .collect();
        let changes: Vec<BlamedChange> = own.into_changes();
        outputs.push(BlamedOutput {
            document: output.document,
            at: output.at,
            data: output.data,
            last: last.map(|last| changes[last].commit),
            values,
            changes,
            is_cut: output.is_cut,
        });
    }
    outputs
}

/// Index of the change of each value, by the value's number. Values that the same edits of a commit
/// changed share a change.
fn changes_of_values(
    found: Vec<FoundChange>,
    named: &NamedCommits,
) -> (BTreeMap<usize, usize>, Vec<BlamedChange>) {
    let mut of_values = BTreeMap::new();
    let mut changes: Vec<BlamedChange> = Vec::new();
    for mut change in found {
        let mut known: BTreeMap<(Vec<EditId>, Vec<String>), usize> = BTreeMap::new();
        for value in mem::take(&mut change.values) {
            let edits = value.causes.iter().map(|cause| cause.id).collect();
            let further = value
                .further
                .iter()
                .map(|it| it.commit.id.clone())
                .collect();
            let at = *known.entry((edits, further)).or_insert_with(|| {
                changes.push(blamed(&change, value.causes, value.further, named));
                changes.len() - 1
            });
            of_values.insert(value.index, at);
        }
    }
    (of_values, changes)
}

/// Changes of one output, taken from those of all.
struct OwnChanges<'c> {
    all: &'c [BlamedChange],
    own: IndexSet<usize>,
}

impl OwnChanges<'_> {
    fn number_of(&mut self, change: usize) -> usize {
        self.own.insert_full(change).0
    }

    fn into_changes(self) -> Vec<BlamedChange> {
        self.own
            .iter()
            .map(|change| self.all[*change].clone())
            .collect()
    }
}

fn blamed(
    change: &FoundChange,
    causes: Vec<Arc<BlameCause>>,
    further: Vec<FurtherCommit>,
    named: &NamedCommits,
) -> BlamedChange {
    BlamedChange {
        commit: named.numbers[&change.commit],
        end: change.end,
        passed_over: named.numbers_of(&change.passed_over),
        touched: change.touched,
        renamed_from: change.renamed_from.clone(),
        causes,
        further,
    }
}

/// Keeps the commits in the history of a value that set it to this text or away from it.
///
/// # Errors
/// If it never had this text, or if the value is secret, because the answer would reveal it.
pub(super) fn when(blame: Blame, text: &str) -> Result<Blame, Error> {
    /// Maximum number of values that are listed.
    const MAX_VALUES: usize = 5;
    let BlameAnswer::Value(history) = blame.answer else {
        let message = "missing argument PATH: `--when` needs one value";
        return Err(Error::usage(message));
    };
    if history.steps.iter().any(ValueStep::is_secret) {
        let message = "the value is or was secret, and `--when` would reveal it";
        return Err(Error::usage(message));
    }
    let is_it = |node: &Option<Node>| {
        node.as_ref()
            .is_some_and(|node| to_flow(node, MAX_WHEN_CHARS) == text)
    };
    let values = history.steps.iter().filter_map(|step| step.after.as_ref());
    let values: Vec<String> = values.map(|it| format!("`{}`", to_flow(it, 80))).collect();
    let steps = history.steps.into_iter();
    let steps: Vec<ValueStep> = steps
        .filter(|step| is_it(&step.before) != is_it(&step.after))
        .collect();
    if steps.is_empty() {
        let message = format!("the value was never `{text}`");
        let values = values
            .iter()
            .take(MAX_VALUES)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        let help = format!("it was {values}");
        return Err(Error::usage(message).with_help(help));
    }
    let history = ValueHistory {
        steps,
        when: Some(text.to_owned()),
        ..history
    };
    Ok(Blame {
        answer: BlameAnswer::Value(history),
        ..blame
    })
}

/// Maximum number of characters of a value that is compared with a text.
const MAX_WHEN_CHARS: usize = 10_000;
