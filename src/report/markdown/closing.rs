//! The end of a page: all of it in figures, what was left out, and what the report
//! is of, fit to be copied.

use super::detail::Told;
use super::digest::STATUSES;
use super::findings::{counts, words_of};
use super::page::Page;
use super::paper::Full;
use super::text;
use super::words::Words;
use crate::report::json::{ComparisonForm, Finding, SideForm, State, StatusForm};
use crate::report::{counted, unlisted_words};

/// Between parts of a line.
const BETWEEN: &str = " · ";

impl Page<'_> {
    pub(super) fn write_closing(&mut self) -> Result<(), Full> {
        if self.digest.report.comparison.is_some() {
            let changes = self.change_words();
            self.paper.paragraph(&changes)?;
        }
        if let Some(findings) = self.finding_words() {
            self.paper.paragraph(&findings)?;
        }
        if let Some(left) = self.left_words() {
            self.paper.paragraph(&left)?;
        }
        let foot = self.foot_words();
        self.paper.paragraph(&format!("<sub>{foot}</sub>"))
    }

    fn change_words(&self) -> String {
        let totals = &self.digest.report.totals;
        let count = |status: StatusForm| {
            self.digest.report.outputs.iter().filter(|it| it.status == status).count()
        };
        let groups = counted(totals.groups, "group");
        let mut parts = vec![counted(totals.edits, "edit")];
        for status in STATUSES {
            let count = count(status);
            parts.extend(match status {
                StatusForm::Changed if count == 0 => {
                    Some("0 rendered documents changed".to_owned())
                }
                StatusForm::Changed => {
                    Some(format!("{} changed in {groups}", counted(count, "rendered document")))
                }
                StatusForm::Added => Some(format!("{count} added")),
                StatusForm::Removed => Some(format!("{count} removed")),
                StatusForm::Broken => (count > 0).then(|| format!("{count} broken")),
                StatusForm::Repaired => (count > 0).then(|| format!("{count} repaired")),
                StatusForm::NotComparable => {
                    (count > 0).then(|| format!("**{count} not comparable**"))
                }
                StatusForm::Metadata => {
                    (count > 0).then(|| format!("{count} with other metadata only"))
                }
            });
        }
        let inert = self.digest.inert.len();
        parts.extend((inert > 0).then(|| format!("{} without effect", counted(inert, "edit"))));
        let shielded = self.digest.shielded();
        parts.extend((shielded > 0).then(|| format!("{} shielded", counted(shielded, "site"))));
        parts.extend(unlisted_words(self.digest.report.truncated.unlisted()));
        parts.join(BETWEEN)
    }

    /// Findings in figures; nothing where there is nothing to count, as where nobody
    /// asked for findings.
    fn finding_words(&self) -> Option<String> {
        let report = self.digest.report;
        let totals = &report.totals;
        let suppressed = [(totals.ignored, "ignored"), (totals.accepted, "in the baseline")];
        let suppressed = suppressed
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, it)| format!("{count} {it}"));
        let ignores = (totals.added_ignores > 0)
            .then(|| format!("**{}**", counted(totals.added_ignores, "new ignore comment")));
        if report.comparison.is_none() {
            let words: Vec<String> = suppressed.collect();
            return (!words.is_empty()).then(|| format!("findings: {}", words.join(BETWEEN)));
        }
        if !report.comparison.as_ref().is_some_and(|it| it.linted) {
            return None;
        }
        let of = |state: State| {
            let findings = report.findings.iter();
            findings.filter(move |it| it.suppressed.is_none() && it.state == Some(state))
        };
        let new = match words_of(counts(of(State::New)), "new ") {
            none if none.is_empty() => "0 new".to_owned(),
            some => some,
        };
        let mut parts = vec![
            new,
            format!("{} fixed", Finding::total(of(State::Fixed))),
            format!("{} unchanged", Finding::total(of(State::Unchanged))),
        ];
        parts.extend(suppressed);
        parts.extend(ignores);
        Some(format!("findings: {}", parts.join(BETWEEN)))
    }

    /// What was left out for want of room, and where it is.
    fn left_words(&self) -> Option<String> {
        let left = &self.left;
        let mut parts = Vec::new();
        parts.extend((left.routes > 0).then(|| counted(left.routes, "route")));
        if left.sites > 0 {
            parts.push("names of sites".to_owned());
        }
        parts.extend(
            (left.values > 0 && self.detail.values == Told::No).then(|| "values".to_owned()),
        );
        let counts = [
            (left.rows, "row"),
            (left.edits, "edit"),
            (left.findings, "finding"),
            (left.others, "other line"),
        ];
        parts.extend(
            counts
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, it)| counted(count, it)),
        );
        if parts.is_empty() {
            return None;
        }
        Some(format!(
            "**Left out** for want of room: {}. The reports `-o html` and `-o json` of the same run have all of it.",
            parts.join(", ")
        ))
    }

    fn foot_words(&self) -> String {
        let (report, words) = (self.digest.report, self.words);
        let version = words.prose(&report.tool.version);
        let mut parts = vec![format!("layercake {version}")];
        if let Some(comparison) = &report.comparison {
            parts.push(format!("base {}", words.base(comparison)));
            parts.push(format!("head {}", words.side(&comparison.to)));
            if comparison.shallow {
                parts.push("history is shallow".to_owned());
            }
            let nested = comparison.nested_at.as_deref().map(|path| words.code(path));
            parts.extend(nested.map(|path| format!("repository {path} inside of another one")));
        }
        parts.push("secrets hidden".to_owned());
        let command = report.comparison.as_ref().and_then(reproduction);
        parts.extend(command.map(|it| format!("reproduce: {}", text::code(&it))));
        parts.join(BETWEEN)
    }
}

/// The command that compares the same two sides; none where one of them has no
/// name that others know it by.
fn reproduction(comparison: &ComparisonForm) -> Option<String> {
    let verb = if comparison.linted { "lint" } else { "diff" };
    let from = commit(&comparison.from)?;
    let to = match &*comparison.to.kind {
        "commit" => format!(" --to {}", commit(&comparison.to)?),
        "index" => " --to index".to_owned(),
        _ => String::new(),
    };
    Some(format!("layercake {verb} --from {from}{to}"))
}

/// The short name of a commit.
fn commit(side: &SideForm) -> Option<&str> {
    /// So many digits of a commit tell it from all others in practice.
    const DIGITS: usize = 10;
    let is_commit = |it: &&str| it.len() >= DIGITS && it.bytes().all(|it| it.is_ascii_hexdigit());
    side.sha.as_deref().filter(is_commit).map(|sha| &sha[..DIGITS])
}

impl Words<'_> {
    /// The base, and why it is this one.
    fn base(self, comparison: &ComparisonForm) -> String {
        let side = self.side(&comparison.from);
        // `HEAD against the index` says no more than the sides do.
        let says_more = comparison.reason.strip_prefix(&*comparison.from.name);
        let is_told = says_more.is_some_and(|rest| rest.starts_with(" against "));
        if is_told || comparison.reason.is_empty() {
            return side;
        }
        format!("{side}, {}", self.prose(&comparison.reason))
    }

    fn side(self, side: &SideForm) -> String {
        let of = match &*side.kind {
            "index" => "index".to_owned(),
            "worktree" => "working tree".to_owned(),
            _ => commit(side).map(text::code).unwrap_or_default(),
        };
        let is_named = !side.name.is_empty() && side.sha.as_deref() != Some(&*side.name);
        match is_named {
            true if of.is_empty() => self.code(&side.name),
            true => format!("{of} ({})", self.code(&side.name)),
            false => of,
        }
    }
}
