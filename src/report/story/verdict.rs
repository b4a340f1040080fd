//! Verdict of a run, compared sides, and summary figures.

use crate::diagnostic::Severity;
use crate::report::model::{
    ByStatus, FailureCriterion, Finding, Report, ReportedCertificates, ReportedSide, RunOutcome,
    SideKind, Totals, Truncated,
};
use crate::report::text::{StyledText, TextRole};
use crate::report::{counted, present};

use super::bumps::bumps;
use super::deployed::{deployed_suffix, not_known};
use super::findings::with_consequences;
use super::images;
use super::repositories::header_lines;
use super::sites::{SiteIndices, SiteNames};
use super::switches::switches;
use crate::triage::Counts;

/// Summary of the result, printed at the start and at the end.
pub(crate) struct Headline {
    /// `PASS`, `FAIL` or `ERROR`; `None` if there was nothing to judge.
    pub(crate) badge: Option<(&'static str, TextRole)>,
    /// Reason for the verdict, or the result.
    pub(crate) reason: StyledText,
    /// Changed revisions of further repositories, and sites with another type or name.
    pub(crate) switches: Vec<StyledText>,
    /// Most important figures: changes, and sites that cannot be deployed.
    pub(crate) figures: Vec<StyledText>,
    /// Statement that no certificate was checked, for a detailed report.
    pub(crate) no_certificates: Option<StyledText>,
    /// Changed images, and finding counts if the reason does not contain them.
    pub(crate) findings: Option<StyledText>,
    /// Hint how to accept existing findings, if a run without a base failed on them.
    pub(crate) acceptance: Option<StyledText>,
    /// Hint how to fail on warnings, if they did not fail the run.
    pub(crate) hint: Option<StyledText>,
}

impl Headline {
    pub(super) fn new(report: &Report, sites: &SiteNames<'_>, dangers: StyledText) -> Self {
        let badge = badge(report);
        let mut figures = changes(report);
        figures.extend(refused(report, sites));
        let certificates = report.certificates.as_ref().map(certificates);
        let has_some = certificates.as_ref().is_some_and(|it| !it.is_empty());
        let no_certificates = (!has_some)
            .then_some(NO_CERTIFICATE)
            .filter(|_| certificates.is_some());
        figures.extend(certificates.filter(|_| has_some));
        let images_and_findings = [images::figure(report), findings(report).unwrap_or_default()];
        let findings =
            Some(StyledText::list(images_and_findings, " · ")).filter(|text| !text.is_empty());
        let reason = match report.verdict.outcome {
            RunOutcome::InternalError => {
                StyledText::plain("layercake itself failed: see the findings")
            }
            RunOutcome::Failed => failure(report),
            RunOutcome::Passed if report.comparison.is_some() => success(report),
            RunOutcome::Passed => {
                counts(report.totals.findings, "").unwrap_or(StyledText::plain("no findings"))
            }
        };
        let reason = StyledText::list([reason, tolerated(report), dangers], " · ");
        let switches = bumps(report, sites)
            .into_iter()
            .chain(switches(report, sites))
            .collect();
        Self {
            badge,
            reason,
            switches,
            figures,
            no_certificates: no_certificates.map(StyledText::plain),
            findings,
            acceptance: acceptance(report),
            hint: hint(report),
        }
    }
}

const NO_CERTIFICATE: &str = "no certificate was checked";

/// Describes the certificates that were checked; empty if there are none.
fn certificates(certificates: &ReportedCertificates) -> StyledText {
    let checked = certificates.time.as_ref().map(|time| {
        let on = if time.contains('T') { "at" } else { "on" };
        let checked = counted(certificates.checked, "certificate");
        StyledText::plain(format!("{checked} checked {on} {time}"))
    });
    let counts = [
        (certificates.expired, "expired", TextRole::Error),
        (certificates.not_yet_valid, "not yet valid", TextRole::Error),
        (certificates.expiring, "expiring", TextRole::Warning),
        (certificates.unreadable, "unreadable", TextRole::Warning),
        (
            certificates.encrypted,
            "encrypted and not checked",
            TextRole::Strong,
        ),
        (certificates.unverified, "not verified", TextRole::Strong),
    ];
    let counts =
        counts.map(|(count, what, role)| (count, StyledText::of(role, format!("{count} {what}"))));
    let counts = StyledText::list(present(counts), ", ");
    match checked {
        Some(checked) => StyledText::list([checked, counts], ", "),
        None if counts.is_empty() => counts,
        None => StyledText::plain(NO_CERTIFICATE).and(": ").join(counts),
    }
}

/// Why errors did not fail the run; empty if there are none, or if they did.
fn tolerated(report: &Report) -> StyledText {
    let is_tolerated = report.verdict.outcome == RunOutcome::Passed
        && report.verdict.judges != FailureCriterion::Gates
        && report.verdict.fail_on.is_none()
        && report.totals.findings.errors > 0;
    if is_tolerated {
        StyledText::plain("errors do not fail this run (--fail-on never)")
    } else {
        StyledText::default()
    }
}

fn badge(report: &Report) -> Option<(&'static str, TextRole)> {
    match (report.verdict.outcome, report.verdict.judges) {
        (RunOutcome::InternalError, _) => Some(("ERROR", TextRole::Error)),
        (RunOutcome::Failed, _) => Some(("FAIL", TextRole::Error)),
        (RunOutcome::Passed, FailureCriterion::Gates) => None,
        // Errors that do not fail the run by request: it did not pass either.
        (RunOutcome::Passed, _)
            if report.verdict.fail_on.is_none() && report.totals.findings.errors > 0 =>
        {
            None
        }
        (
            RunOutcome::Passed,
            FailureCriterion::NewFindings
            | FailureCriterion::AllFindings
            | FailureCriterion::Changes,
        ) => Some(("PASS", TextRole::Good)),
    }
}

fn acceptance(report: &Report) -> Option<StyledText> {
    let is_failed = report.verdict.outcome == RunOutcome::Failed;
    let has_no_base = report.comparison.is_some() && !is_compared(report);
    (is_failed && has_no_base).then(|| {
        StyledText::of(TextRole::Strong, "layercake baseline write")
            .and(" accepts the existing findings")
    })
}

fn hint(report: &Report) -> Option<StyledText> {
    let is_passed = report.verdict.outcome == RunOutcome::Passed;
    let has_warnings = report.comparison.is_some() && report.totals.findings.warnings > 0;
    let is_usual = report.verdict.fail_on == Some(Severity::Error);
    (is_passed && has_warnings && is_usual)
        .then(|| StyledText::strong("--fail-on warning").and(" makes new warnings fail the run"))
}

/// Describes why a run failed.
fn failure(report: &Report) -> StyledText {
    let fails = |finding: &&Finding| {
        let is_judged = match report.verdict.judges {
            FailureCriterion::AllFindings => finding.is_open(),
            FailureCriterion::NewFindings | FailureCriterion::Gates | FailureCriterion::Changes => {
                finding.is_new()
            }
        };
        is_judged
            && report
                .verdict
                .fail_on
                .is_some_and(|least| finding.severity >= least)
    };
    let failing: Vec<&Finding> = report.findings.iter().filter(fails).collect();
    let roots: Vec<&&Finding> = failing
        .iter()
        .filter(|it| it.because_of.is_none())
        .collect();
    let what = total(report);
    match &roots[..] {
        [] if report.comparison.is_none() => StyledText::plain(NO_CERTIFICATE),
        [] => StyledText::plain("an output changed"),
        [only] if only.count == report.totals.findings.all() => what.and(": ").and(&only.message),
        // Without a comparison, errors come last.
        [..] if report.comparison.is_none() => {
            let causes = with_consequences(report);
            let cause = roots.iter().find(|it| it.is_root(&causes));
            let named = cause.map(|cause| StyledText::plain(&*cause.message));
            what.join(named.unwrap_or_default().prefixed(", first: "))
        }
        [..] => what,
    }
}

/// Note for a run without a base.
const NO_BASE: &str = "no base to compare with: the current state is checked";

/// Describes the number of findings that the verdict is based on.
fn total(report: &Report) -> StyledText {
    let Totals {
        findings,
        unchanged,
        ..
    } = report.totals;
    let (word, found) = match (is_compared(report), report.verdict.judges) {
        (true, FailureCriterion::AllFindings) => {
            let all = Counts {
                errors: findings.errors + unchanged.errors,
                warnings: findings.warnings + unchanged.warnings,
                notes: findings.notes + unchanged.notes,
            };
            ("", all)
        }
        (
            true,
            FailureCriterion::NewFindings | FailureCriterion::Gates | FailureCriterion::Changes,
        ) => ("new ", findings),
        (false, _) => ("", findings),
    };
    counts(found, word).unwrap_or_default()
}

/// Whether the run has a base.
fn is_compared(report: &Report) -> bool {
    let comparison = report.comparison.as_ref();
    comparison.is_some_and(|comparison| comparison.base.kind != SideKind::Nothing)
}

fn success(report: &Report) -> StyledText {
    let Some(comparison) = &report.comparison else {
        return StyledText::default();
    };
    if comparison.base.kind == SideKind::Nothing {
        return StyledText::plain(NO_BASE);
    }
    match report.verdict.judges {
        FailureCriterion::Changes => StyledText::plain("no output changed"),
        _ if comparison.linted => match report.totals.findings {
            Counts {
                errors: 0,
                warnings: 0,
                notes: 0,
            } => StyledText::plain("no new findings"),
            found => counts(found, "new ").unwrap_or_default(),
        },
        _ => StyledText::default(),
    }
}

/// Formats finding counts by severity; `None` if all are zero.
pub(crate) fn counts(counts: Counts, word: &str) -> Option<StyledText> {
    let kinds = [
        (counts.errors, "error", TextRole::Error),
        (counts.warnings, "warning", TextRole::Warning),
        (counts.notes, "note", TextRole::Note),
    ];
    let texts = kinds.map(|(count, kind, role)| {
        (
            count,
            StyledText::of(role, counted(count, &format!("{word}{kind}"))),
        )
    });
    let text = StyledText::list(present(texts), ", ");
    (!text.is_empty()).then_some(text)
}

/// Describes the counts of a run without a comparison, or the changes of one with a comparison.
fn changes(report: &Report) -> Vec<StyledText> {
    let totals = &report.totals;
    if !is_compared(report) {
        let sites = (totals.sites > 0).then(|| counted(totals.sites, "site"));
        let documents = totals.documents.map(|count| counted(count, "document"));
        let read = sites
            .into_iter()
            .chain(documents)
            .chain([format!("{} rendered", totals.outputs)])
            .map(StyledText::plain);
        let is_in_reason =
            report.comparison.is_none() || report.verdict.outcome == RunOutcome::Passed;
        let first = (!is_in_reason).then(|| StyledText::plain(NO_BASE));
        return first
            .into_iter()
            .chain([StyledText::list(read, " · ")])
            .collect();
    }
    let texts = [changed(report)].into_iter().chain(others(report));
    vec![StyledText::list(
        texts.chain(left_out(report.truncated)),
        " · ",
    )]
}

fn changed(report: &Report) -> StyledText {
    let totals = &report.totals;
    let ByStatus {
        added,
        removed,
        broken,
        repaired,
        metadata,
        ..
    } = totals.by_status;
    let is_only_metadata = metadata > 0 && metadata == totals.changed_outputs;
    if totals.changed_outputs == 0 {
        let edits = match totals.edits {
            0 => "no edits".to_owned(),
            count => counted(count, "edit"),
        };
        let is_known = totals.by_status.not_comparable == 0;
        return StyledText::plain(if is_known {
            edits + ", no output changed"
        } else {
            edits
        });
    }
    let all = totals.outputs + removed;
    let text = StyledText::strong(format!(
        "{} of {}",
        totals.changed_outputs,
        counted(all, "output")
    ));
    let kinds: Vec<_> = [
        (added, "added"),
        (removed, "removed"),
        (broken, "broken"),
        (repaired, "repaired"),
        (metadata, "in their metadata only"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .collect();
    let (word, kinds) = match &kinds[..] {
        _ if is_only_metadata => ("changed", &[][..]),
        [(count, kind)] if *count == totals.changed_outputs => (*kind, &[][..]),
        some => ("changed", some),
    };
    let data = if is_only_metadata {
        "no rendered data changes; metadata of "
    } else {
        ""
    };
    let text = StyledText::plain(data).join(text).and(format!(" {word}"));
    // Including removed outputs.
    let sites = report
        .sites
        .iter()
        .filter(|site| site.name.is_some())
        .count();
    let text = match sites {
        0 => text,
        1 => text.and(" in 1 site"),
        sites if sites == totals.changed_sites => text.and(format!(" in all {sites} sites")),
        sites => text.and(format!(" in {} of {sites} sites", totals.changed_sites)),
    };
    let text = text.and(deployed_suffix(totals.deployed, totals.changed_outputs));
    let kinds = kinds
        .iter()
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect::<Vec<_>>();
    if kinds.is_empty() {
        text
    } else {
        text.and(format!(" ({})", kinds.join(", ")))
    }
}

fn others(report: &Report) -> Vec<StyledText> {
    let totals = &report.totals;
    let not_comparable = totals.by_status.not_comparable;
    let sites = totals.shielded_sites;
    let shielded = report
        .edits
        .iter()
        .filter(|edit| edit.reach.shielded.is_some())
        .count();
    let verb = if shielded == 1 { "does" } else { "do" };
    let shielded = format!("{} {verb} not arrive in", counted(shielded, "edit"));
    let inert = if totals.inert_edits < totals.edits {
        totals.inert_edits
    } else {
        0
    };
    let plain = |words: String| StyledText::plain(words);
    present([
        (
            totals.unread_sites,
            plain(format!(
                "{} out of reach, not read",
                counted(totals.unread_sites, "site")
            )),
        ),
        (
            totals.other_treatment,
            plain(format!(
                "{} treated differently by Deckhand",
                totals.other_treatment
            )),
        ),
        (
            totals.untouched_outputs,
            plain(format!("{} from unedited files", totals.untouched_outputs)),
        ),
        (
            not_comparable,
            StyledText::of(
                TextRole::Warning,
                format!("{} not comparable", counted(not_comparable, "output")),
            ),
        ),
        (
            sites,
            plain(format!("{shielded} {}", counted(sites, "site"))),
        ),
        (
            totals.deployed.deployment_not_known,
            plain(not_known(totals.deployed)),
        ),
        (
            inert,
            plain(format!("{} without effect", counted(inert, "edit"))),
        ),
        (
            totals.unexplained,
            StyledText::of(
                TextRole::Error,
                format!("{} UNEXPLAINED", counted(totals.unexplained, "output")),
            ),
        ),
    ])
}

/// Describes the number of omitted items.
fn left_out(truncated: Truncated) -> Option<StyledText> {
    let Truncated {
        outputs,
        causes,
        shields,
        values: _,
    } = truncated;
    let kinds = [(outputs, "output"), (causes, "cause"), (shields, "shield")];
    let kinds = present(kinds.map(|(count, what)| (count, counted(count, what))));
    (!kinds.is_empty()).then(|| StyledText::plain(format!("{} not listed", kinds.join(", "))))
}

/// Describes the sites that Deckhand would reject.
fn refused(report: &Report, sites: &SiteNames<'_>) -> Option<StyledText> {
    let named = report
        .sites
        .iter()
        .enumerate()
        .filter(|(_, site)| site.name.is_some());
    let refused: SiteIndices = named
        .filter(|(_, site)| site.counts.refused)
        .map(|(at, _)| at)
        .collect();
    let all = report.totals.sites;
    let words = match refused.len() {
        0 => return None,
        count if report.totals.unread_sites > 0 => {
            format!("{} cannot be deployed", counted(count, "site"))
        }
        1 if all == 1 => "the site cannot be deployed".to_owned(),
        count if count == all => format!("none of {all} sites can be deployed"),
        count => format!("{count} of {all} sites cannot be deployed"),
    };
    let is_new = |finding: &Finding| finding.refused && finding.is_new();
    let is_as_before = report.comparison.is_some() && !report.findings.iter().any(is_new);
    let words = if is_as_before {
        words + ", as before"
    } else {
        words
    };
    let text = StyledText::of(TextRole::Error, words);
    Some(if refused.len() == all {
        text
    } else {
        text.and(": ").join(sites.list(&refused))
    })
}

/// Formats the finding counts, if rules were checked. New findings are part of the verdict.
fn findings(report: &Report) -> Option<StyledText> {
    let totals = &report.totals;
    let comparison = report.comparison.as_ref();
    if comparison.is_some_and(|comparison| !comparison.linted) {
        return None;
    }
    let unchanged = totals.unchanged.all();
    let ignores = comparison.map_or(0, |comparison| comparison.added_ignores);
    let plain = |words: String| StyledText::plain(words);
    let parts = present([
        (
            totals.fixed,
            StyledText::of(TextRole::Good, format!("{} fixed", totals.fixed)),
        ),
        (
            unchanged,
            plain(counted(unchanged, "unchanged finding"))
                .and(if totals.unread_sites > 0 {
                    " in the sites read"
                } else {
                    ""
                })
                .then(TextRole::Flag, " (--all-findings)"),
        ),
        (ignores, plain(counted(ignores, "new ignore comment"))),
        (totals.ignored, plain(format!("{} ignored", totals.ignored))),
        (
            totals.accepted,
            plain(format!("{} in the baseline", totals.accepted)),
        ),
        (
            totals.fixable,
            plain(format!("{} fixable", totals.fixable)).then(TextRole::Flag, " with --fix"),
        ),
    ]);
    (!parts.is_empty()).then(|| StyledText::list(parts, " · "))
}

/// Describes the compared sides and the semantics.
pub(super) fn header(report: &Report, sites: &SiteNames<'_>) -> Vec<(&'static str, StyledText)> {
    let mut header = Vec::new();
    if let Some(comparison) = &report.comparison {
        header.extend(repository(report).map(|text| ("repository", text)));
        let shallow = if comparison.shallow {
            " (history is shallow)"
        } else {
            ""
        };
        let reason = reason(&comparison.reason, &comparison.base);
        let head = side(&comparison.head);
        if comparison.base.kind == SideKind::Nothing {
            header.push(("head", head));
        } else {
            header.push(("base", side(&comparison.base).and(reason).and(shallow)));
            let edited = counted(comparison.edited_files, "file");
            header.push(("head", head.and(format!(", {edited} changed"))));
        }
    }
    header.extend(limits(report).map(|text| ("only", text)));
    header.extend(
        header_lines(report, sites)
            .into_iter()
            .map(|text| ("with", text)),
    );
    let semantics = report.semantics;
    let words = format!(
        "{} ({})",
        semantics.meaning.as_str(),
        semantics.chosen_by.as_str()
    );
    header.push(("semantics", StyledText::plain(words)));
    header
}

/// Lists the sites and paths to which the run is limited.
fn limits(report: &Report) -> Option<StyledText> {
    /// Maximum number of globs and paths listed.
    const MAX_LIMITS: usize = 10;
    let limits = &report.limited_to;
    let listed = limits
        .iter()
        .take(MAX_LIMITS)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match limits.len() {
        0 => None,
        count if count > MAX_LIMITS => Some(StyledText::plain(format!(
            "{listed} and {} more",
            count - MAX_LIMITS
        ))),
        _ => Some(StyledText::plain(listed)),
    }
}

/// Describes the repository and its branch.
pub(crate) fn repository(report: &Report) -> Option<StyledText> {
    let repository = report.repository.as_ref()?;
    let text = StyledText::strong(&repository.name);
    let text = match &repository.nested_at {
        Some(path) => text.and(format!(", at `{path}` in the enclosing repository")),
        None => text,
    };
    let text = match &repository.branch {
        Some(branch) => text.and(", branch ").then(TextRole::Name, branch),
        None => text,
    };
    Some(match &repository.commit {
        Some(commit) => text
            .and(", commit ")
            .then(TextRole::Name, short_commit(commit)),
        None => text,
    })
}

/// Formats the reason for the choice of the sides, after a comma; empty if it repeats their names.
fn reason(reason: &str, base: &ReportedSide) -> String {
    let name = match base.kind {
        SideKind::Nothing => "nothing",
        SideKind::Index => "the index",
        SideKind::Worktree => "the working tree",
        SideKind::Commit => &*base.name,
    };
    let rest = reason.strip_prefix(name);
    let is_repeated = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" against "));
    if reason.is_empty() || is_repeated {
        String::new()
    } else {
        format!(", {reason}")
    }
}

/// Returns the digits that identify a commit in practice.
fn short_commit(commit: &str) -> &str {
    const DIGITS: usize = 10;
    commit.get(..DIGITS).unwrap_or(commit)
}

fn side(side: &ReportedSide) -> StyledText {
    let of = match side.kind {
        SideKind::Nothing => StyledText::plain("nothing"),
        SideKind::Index => StyledText::plain("index"),
        SideKind::Worktree => StyledText::plain("working tree"),
        SideKind::Commit => {
            let commit = side.commit.as_deref().unwrap_or_default();
            StyledText::name(short_commit(commit))
        }
    };
    let is_named = !side.name.is_empty() && side.commit.as_deref() != Some(&*side.name);
    match is_named {
        true if of.is_empty() => StyledText::name(&side.name),
        true if !of.words().starts_with(&*side.name) => of.and(format!(" ({})", side.name)),
        true | false => of,
    }
}
