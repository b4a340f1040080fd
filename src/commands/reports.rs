//! Reports of `lint` and `diff`, and their verdicts.

use std::time::Duration;

use super::Selection;
use super::compare::{ComparisonOutcome, ComparisonRequest, Verify};
use super::configuration;
use super::documents::DocumentGlobs;
use super::lint::Linted;
use crate::check::{Checked, CheckedSite, Compared};
use crate::compare::reach::SiteReach;
use crate::diagnostic::Severity;
use crate::report::model::{
    CheckedSides, FailureCriterion, Report, ReportInput, ReportedCertificates, ReportedComparison,
    RunOutcome, RunVerdict, Timing,
};
use crate::report::{ChosenSemantics, FindingFilter, View};
use crate::rules::CertificateMark;
use crate::stopwatch::times;
use crate::triage;

/// View of the sources of a run.
pub fn view<T>(checked: &Checked<T>) -> View<'_> {
    View::new(&checked.sources, &checked.secrets, &checked.opaque)
}

/// Criteria for the success of a run.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// Minimum severity of findings that fail it; `None` if findings do not fail it.
    pub fail_on: Option<Severity>,
    /// Findings or changes that fail it.
    pub judges: FailureCriterion,
    /// Whether it fails without a checked certificate; only without a comparison.
    pub requires_certificates: bool,
}

impl Judge {
    /// Default of `diff`.
    pub const GATES: Self = Self {
        fail_on: Some(Severity::Error),
        judges: FailureCriterion::Gates,
        requires_certificates: false,
    };

    /// Default of `lint`.
    pub const USUAL: Self = Self {
        fail_on: Some(Severity::Error),
        judges: FailureCriterion::NewFindings,
        requires_certificates: false,
    };

    fn verdict(self, outcome: RunOutcome) -> RunVerdict {
        RunVerdict {
            outcome,
            fail_on: self.fail_on,
            judges: self.judges,
        }
    }

    /// Verdict on the result of `lint`.
    pub fn of_linted(self, linted: &Linted, request: &ComparisonRequest) -> RunVerdict {
        match linted {
            Linted::One(checked, ..) => self.of_checked(checked),
            Linted::Two(outcome) => self.of_comparison(outcome, request),
        }
    }

    /// Fails on findings of one side.
    pub fn of_checked<T>(self, checked: &Checked<T>) -> RunVerdict {
        self.verdict(if checked.internal_error {
            RunOutcome::InternalError
        } else {
            let (_, certificates) = &checked.certificates;
            let lacks_certificates = self.requires_certificates && certificates.checked() == 0;
            failed_if(lacks_certificates || checked.findings.counts().reach(self.fail_on))
        })
    }

    /// Fails on findings that are new since the base, on any finding if all are requested, or on
    /// changes if these are to fail.
    fn of_comparison(self, outcome: &ComparisonOutcome, request: &ComparisonRequest) -> RunVerdict {
        let compared = &outcome.compared;
        let comparison = &compared.comparison;
        let is_wrong = comparison.unexplained() > 0 || !comparison.faults.is_empty();
        let unproven = request.verify == Verify::All && is_wrong;
        if unproven || compared.checked.internal_error {
            return self.verdict(RunOutcome::InternalError);
        }
        let is_reached = |findings: &triage::Findings| findings.counts().reach(self.fail_on);
        let findings = &compared.findings;
        self.verdict(failed_if(match self.judges {
            FailureCriterion::NewFindings => is_reached(&findings.new),
            FailureCriterion::AllFindings => {
                is_reached(&findings.new) || is_reached(&findings.unchanged)
            }
            FailureCriterion::Gates => is_reached(&compared.gated),
            FailureCriterion::Changes => {
                is_reached(&compared.gated) || !compared.comparison.outputs.is_empty()
            }
        }))
    }
}

fn failed_if(is_failed: bool) -> RunOutcome {
    if is_failed {
        RunOutcome::Failed
    } else {
        RunOutcome::Passed
    }
}

/// Report of `lint`.
pub fn report_of_linted(
    linted: &Linted,
    verdict: RunVerdict,
    listing: FindingFilter,
    selection: &Selection,
    elapsed: Duration,
) -> Report {
    match linted {
        Linted::One(checked, configured, repository) => {
            let semantics = configuration::chosen_semantics(configured, selection.meaning);
            let report = report_of_one(checked, verdict, listing, semantics, elapsed);
            Report {
                repository: repository.clone(),
                certificates: certificates(checked),
                ..report
            }
            .with_limits(
                flags("--site", &selection.sites),
                &checked.only,
                &checked.sources,
            )
            .with_rule_pages(configuration::rule_pages(configured))
        }
        Linted::Two(outcome) => {
            let sources = &outcome.compared.checked.sources;
            let findings = outcome.compared.findings.reported(listing.all, sources);
            Report {
                certificates: certificates(&outcome.compared.checked),
                ..report_of_comparison(outcome, Some(&findings), verdict, selection, elapsed)
            }
        }
    }
}

/// The certificates that were checked; `None` if no dates were judged.
fn certificates(checked: &Checked<()>) -> Option<ReportedCertificates> {
    let (time, tally) = &checked.certificates;
    let count = |mark| tally.count(mark);
    let certificates = ReportedCertificates {
        time: None,
        checked: tally.checked(),
        expired: count(CertificateMark::Expired),
        not_yet_valid: count(CertificateMark::NotYetValid),
        expiring: count(CertificateMark::Expiring),
        unreadable: count(CertificateMark::Unreadable),
        encrypted: count(CertificateMark::Encrypted),
        unverified: count(CertificateMark::Unverified),
    };
    // A report without certificates does not depend on the clock.
    time.map(|time| ReportedCertificates {
        time: (certificates.checked > 0).then(|| time.to_string()),
        ..certificates
    })
}

/// Report of a run without a comparison.
pub fn report_of_one<T>(
    checked: &Checked<T>,
    verdict: RunVerdict,
    listing: FindingFilter,
    semantics: ChosenSemantics,
    elapsed: Duration,
) -> Report {
    let findings = checked.findings.reported(listing.all, &checked.sources);
    let run = ReportInput {
        verdict,
        checked: CheckedSides::One {
            documents: checked.documents,
            sites: checked.sites.iter().map(reach).collect(),
            findings: &findings,
        },
        repositories: &checked.repositories,
        outputs: checked.sites.iter().map(|site| site.outputs).sum(),
        semantics,
        timing: Timing::new(elapsed, times().as_ref()),
        ..ReportInput::of_findings(&findings)
    };
    Report::new(run, &view(checked))
}

fn reach<T>(site: &CheckedSite<T>) -> SiteReach {
    SiteReach {
        site: site.name.clone(),
        site_type: site.site_type.clone(),
        base: None,
        head: Some(site.outputs),
        is_read: true,
    }
}

/// Report of a comparison with these findings.
fn report_of_comparison(
    outcome: &ComparisonOutcome,
    findings: Option<&triage::ComparedFindings>,
    verdict: RunVerdict,
    selection: &Selection,
    elapsed: Duration,
) -> Report {
    let Compared {
        comparison,
        consequences,
        ..
    } = &outcome.compared;
    let run = ReportInput {
        verdict,
        repository: Some(outcome.repository.clone()),
        repositories: &outcome.compared.checked.repositories,
        images: Some(&outcome.images),
        outputs: outcome.outputs,
        semantics: configuration::chosen_semantics(&outcome.configured, selection.meaning),
        timing: Timing::new(elapsed, times().as_ref()),
        ..ReportInput::of_comparison(outcome.sides.clone(), comparison, consequences, findings)
    };
    let checked = &outcome.compared.checked;
    let DocumentGlobs { schemas, names } = &outcome.documents;
    let limits = [
        ("--site", &selection.sites),
        ("--schema", schemas),
        ("--name", names),
    ];
    let limits = limits
        .into_iter()
        .flat_map(|(flag, globs)| flags(flag, globs))
        .chain(outcome.deployed.then(|| "--deployed".to_owned()))
        .collect();
    Report::new(run, &view(checked))
        .with_limits(limits, &checked.only, &checked.sources)
        .with_rule_pages(configuration::rule_pages(&outcome.configured))
}

/// A flag with each of these globs.
fn flags(flag: &str, globs: &[String]) -> Vec<String> {
    globs.iter().map(|glob| format!("{flag} {glob}")).collect()
}

/// Report of `lint` over two sides with default options.
pub fn usual_report(
    outcome: &ComparisonOutcome,
    selection: &Selection,
    elapsed: Duration,
) -> Report {
    let verdict = Judge::USUAL.of_comparison(outcome, &ComparisonRequest::default());
    let findings = outcome
        .compared
        .findings
        .reported(false, &outcome.compared.checked.sources);
    report_of_comparison(outcome, Some(&findings), verdict, selection, elapsed)
}

/// Report of `diff` over two sides and its verdict.
pub fn report_of_changes(
    outcome: &ComparisonOutcome,
    (judge, request): (Judge, &ComparisonRequest),
    selection: &Selection,
    elapsed: Duration,
) -> (Report, RunVerdict) {
    let verdict = judge.of_comparison(outcome, request);
    let findings = outcome.compared.without_rules();
    let report = report_of_comparison(outcome, Some(&findings), verdict, selection, elapsed);
    let comparison = report.comparison.clone().map(|sides| ReportedComparison {
        linted: false,
        ..sides
    });
    (
        Report {
            comparison,
            ..report
        },
        verdict,
    )
}
