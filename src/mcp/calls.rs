//! The verbs that the tools call, and the fields of their JSON that have nothing of the repository.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::answer::{Answer, Gap, Object, field, items, printed};
use super::tools::Question;
use crate::ask::{SET, ValueQuestion};
use crate::cancel::Cancel;
use crate::check::Checked;
use crate::commands::blame::{self, BlameQuestion, BlameRequest};
use crate::commands::compare::{ComparisonRequest, SitesToRead};
use crate::commands::documents::DocumentGlobs;
use crate::commands::history::HistoryRequest;
use crate::commands::names::file_and_line;
use crate::commands::places::entered;
use crate::commands::policy::Selectors;
use crate::commands::render::{self, RenderRequest};
use crate::commands::reports::{Judge, report_of_linted, view};
use crate::commands::sides::SideSelection;
use crate::commands::{Selection, explain_value, impact, lint};
use crate::error::Error;
use crate::report::answer::blame::write_blame_json;
use crate::report::answer::log::LogEnd;
use crate::report::answer::provenance::SiteValue;
use crate::report::answer::{write_answer, write_list};
use crate::report::model::{self, Report, RunOutcome, Truncated};
use crate::report::{DocumentOptions, FindingFilter, FormatOptions, ReportFormat, printable_lines};
use crate::rules::RULES;

/// `lint --since`.
pub(super) fn changes(question: &Question<'_>) -> Result<Answer, Error> {
    let selection = Selection {
        sites: question.list("site"),
        ..question.selection.clone()
    };
    let wanted = SideSelection {
        since: question.argument("since"),
        ..SideSelection::default()
    };
    let request = ComparisonRequest {
        wanted,
        ..ComparisonRequest::default()
    };
    linted(question, &selection, &request)
}

/// `lint`.
pub(super) fn findings(question: &Question<'_>) -> Result<Answer, Error> {
    let selection = entered(Selection {
        sites: question.list("site"),
        files: question
            .argument("file")
            .into_iter()
            .map(Into::into)
            .collect(),
        selectors: Selectors {
            select: question.list("rule"),
            ..Selectors::default()
        },
        ..question.selection.clone()
    })?;
    linted(question, &selection, &ComparisonRequest::default())
}

fn linted(
    question: &Question<'_>,
    selection: &Selection,
    request: &ComparisonRequest,
) -> Result<Answer, Error> {
    let linted = lint::run(selection, request, SitesToRead::Reached, &question.control)?;
    let verdict = Judge::USUAL.of_linted(&linted, request);
    let listing = FindingFilter::default();
    let mut report = report_of_linted(&linted, verdict, listing, selection, Duration::ZERO);
    report.drop_lines();
    let options = FormatOptions {
        listing,
        rules: RULES,
    };
    Ok(of_report(
        &report,
        printed(|out| ReportFormat::Json.write(&report, &options, out)),
    ))
}

fn of_report(report: &Report, mut printed: Object) -> Answer {
    let mut answer = Answer::default();
    answer.gap(Gap::NotCompared, report.comparison.is_none());
    answer.gap(Gap::NotDecided, report.totals.undecided_edits > 0);
    answer.gap(
        Gap::NotComparable,
        report.totals.by_status.not_comparable > 0,
    );
    answer.gap(
        Gap::Limited,
        !report.limited_to.is_empty() || report.truncated != Truncated::default(),
    );
    answer.gap(
        Gap::Failed,
        report.verdict.outcome == RunOutcome::InternalError,
    );
    answer.facts(
        &mut printed,
        "verdict semantics totals truncated omitted_unchanged",
    );
    answer.define("sites", "", sets_of_names(&printed));
    answer.define("edits", "edits joint", items(&mut printed, "edit_sets"));
    answer.define("route", "", items(&mut printed, "routes"));
    answer.about(
        &mut printed,
        "repository repositories comparison limited_to",
    );
    for (name, kind, own) in LISTS {
        answer.list(kind, own, items(&mut printed, name));
    }
    answer
}

/// Lists of a report, with the kind of their entries and the fields that have nothing of the repository.
const LISTS: [(&str, &str, &str); 7] = [
    (
        "consequences",
        "consequence",
        "sites configured no_nodes not_compared rendered_only deployment_not_known",
    ),
    (
        "findings",
        "finding",
        "rule severity state refused is_cause count sites caused_by because_of",
    ),
    (
        "edits",
        "edit",
        "kind repository part reach renames proof idle unlisted",
    ),
    ("shields", "shield", "edit why sites"),
    ("groups", "group", "status outputs sites"),
    (
        "outputs",
        "output",
        "status other_treatment group sites deployed_by touched edits changed_by causes unexplained",
    ),
    (
        "sites",
        "site",
        "base head unread errors refused changed added removed not_comparable shielded deployed \
         rendered_only deployment_not_known",
    ),
];

/// The sets of sites, with names instead of indices.
fn sets_of_names(printed: &Object) -> Vec<Object> {
    let values = |name: &str| -> Vec<Value> {
        serde_json::from_str(printed[name].get()).expect("it is a list")
    };
    let sites = values("sites");
    let name = |at: &Value| {
        let index = at.as_u64().and_then(|at| usize::try_from(at).ok());
        sites[index.expect("it is an index")]["name"].clone()
    };
    let set = |set: &Value| {
        let members = set["sites"].as_array().into_iter().flatten();
        Object::from([
            field("id", set["id"].clone()),
            field("sites", members.map(name).collect::<Value>()),
        ])
    };
    values("site_sets").iter().map(set).collect()
}

/// `impact FILE[:LINE]`.
pub(super) fn impact(question: &Question<'_>) -> Result<Answer, Error> {
    let place = question.required("place");
    let (checked, impact) = impact::run(question.selection, &place, &question.control)?;
    let impact = impact.located(&view(&checked));
    let mut printed = printed(|out| write_answer(&impact, out));
    let mut answer = Answer::default();
    answer.gap(Gap::Limited, impact.more);
    answer.facts(
        &mut printed,
        "outputs_reached sites_reached deployed rendered_only deployment_not_known",
    );
    answer.about(&mut printed, "place");
    answer.list("text", "is_value", items(&mut printed, "texts"));
    answer.list("output", "", items(&mut printed, "outputs"));
    answer.list("shield", "why", items(&mut printed, "stops"));
    note_unread(&mut answer, &checked);
    Ok(answer)
}

/// `explain-value`.
pub(super) fn explain_value(question: &Question<'_>) -> Result<Answer, Error> {
    let value = ValueQuestion {
        schema: question.argument("schema").unwrap_or_default(),
        name: question.required("name"),
        path: question.required("path"),
    };
    let (selection, control) = (question.selection, &question.control);
    let (checked, values) = match question.argument("site") {
        Some(site) => {
            let (checked, way) = explain_value::one(selection, &site, &value, control)?;
            let site = way.site.clone();
            (
                checked,
                vec![SiteValue {
                    site,
                    way: Some(way),
                }],
            )
        }
        None => explain_value::all(selection, &value, control)?,
    };
    let view = view(&checked);
    let values: Vec<_> = values.into_iter().map(|it| it.located(&view)).collect();
    let mut printed = printed(|out| write_list("sites", &values, out));
    let mut answer = Answer::default();
    let ways = values.iter().filter_map(|value| value.way.as_ref());
    answer.gap(Gap::Limited, ways.into_iter().any(|way| way.more_leaves));
    answer.list("value", "", items(&mut printed, "sites"));
    note_unread(&mut answer, &checked);
    Ok(answer)
}

/// `render`.
pub(super) fn render(question: &Question<'_>) -> Result<Answer, Error> {
    let selection = Selection {
        sites: question.list("site"),
        ..question.selection.clone()
    };
    let request = RenderRequest {
        documents: DocumentGlobs {
            schemas: question.list("schema"),
            names: question.list("name"),
        },
        path: question.argument("path"),
        is_judged: false,
    };
    let rendering = render::run(&selection, &request, &question.control)?;
    let options = DocumentOptions::default();
    let mut printed = printed(|out| model::rendered(&rendering.sites, options, None, out));
    let mut answer = Answer::default();
    answer.gap(Gap::NotRendered, !rendering.is_whole());
    for mut site in items(&mut printed, "sites") {
        let mut documents = items(&mut site, "documents");
        for document in &mut documents {
            document.extend(site.clone());
        }
        answer.list("document", "line", documents);
    }
    let missing = rendering.missing.iter().map(|(site, key)| {
        Object::from([
            field("site", printable_lines(site.as_deref().unwrap_or(SET))),
            field("schema", printable_lines(&key.schema)),
            field("name", printable_lines(&key.name)),
        ])
    });
    answer.list("not_rendered", "", missing.collect());
    let undefined = rendering.checked.undefined.iter();
    let undefined = undefined.map(|site| Object::from([field("site", printable_lines(site))]));
    answer.list("not_rendered", "", undefined.collect());
    note_unread(&mut answer, &rendering.checked);
    Ok(answer)
}

/// `blame`.
pub(super) fn blame(question: &Question<'_>) -> Result<Answer, Error> {
    let (name, path) = (question.argument("name"), question.argument("path"));
    if path.is_some() && name.is_none() {
        let message = "missing argument `name`: it is needed for `path`";
        return Err(Error::usage(message));
    }
    let request = BlameRequest {
        site: question.required("site"),
        schema: question.argument("schema").unwrap_or_default(),
        name,
        path,
        question: BlameQuestion::Value,
        history: HistoryRequest {
            since: None,
            first_parent: false,
            limit: None,
            // No date is relative to it.
            now: SystemTime::UNIX_EPOCH,
            stop: Cancel::default(),
        },
    };
    let (selection, control) = (question.selection, &question.control);
    let (checked, blame) = blame::run(selection, &request, control, &mut |_, _| ())?;
    let view = view(&checked);
    let mut printed = printed(|out| write_blame_json(&blame, &view, out));
    let mut answer = Answer::default();
    answer.gap(Gap::Limited, blame.end != LogEnd::Whole);
    answer.about(&mut printed, "site");
    let mut commits = items(&mut printed, "commits");
    for commit in &mut commits {
        // Others refer to commits by number, as the ids of entries do.
        if let Some(hash) = commit.shift_remove("id") {
            commit.insert("hash".to_owned(), hash);
        }
    }
    answer.list("commit", "unusable", commits);
    answer.list("output", "last truncated", items(&mut printed, "outputs"));
    if let Some(value) = printed.shift_remove("value") {
        let mut value = serde_json::from_str(value.get()).expect("a value is an object");
        let steps = items(&mut value, "history");
        answer.list("value", "", vec![value]);
        answer.list("step", "commit end own_file hidden", steps);
    }
    note_unread(&mut answer, &checked);
    Ok(answer)
}

/// Lists the files that could not be read to their end, and notes failures of layercake.
fn note_unread(answer: &mut Answer, checked: &Checked<()>) {
    answer.gap(Gap::Unread, !checked.unread.is_empty());
    answer.gap(Gap::Failed, checked.internal_error);
    let places = checked.unread.iter().map(|at| {
        let place = file_and_line(checked, *at);
        Object::from([field("place", printable_lines(&place))])
    });
    answer.list("unread", "", places.collect());
}
