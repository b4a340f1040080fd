//! The last lines: all of it in figures.

use std::io::{self, Write};

use super::{FindingsTold, Page, Unchanged, route};
use crate::compare::Status;
use crate::diagnostic::Severity;
use crate::report::terminal::suppressed_words;
use crate::report::{counted, unlisted_words};

impl Page<'_> {
    pub(super) fn write_closing(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_paragraph("", &self.closing_words(), out)?;
        match self.findings {
            Some(findings) => self.write_paragraph("", &self.findings_words(findings), out),
            None => Ok(()),
        }
    }

    fn closing_words(&self) -> String {
        let comparison = self.comparison();
        if self.compared.sides.is_first() {
            return "first commit: nothing to compare with, the present state is checked"
                .to_owned();
        }
        let edits = counted(comparison.edits.len(), "edit");
        if comparison.outputs.is_empty() {
            return format!("{edits}, 0 rendered documents changed");
        }
        let count = |status| comparison.count(status);
        let changed = count(Status::Changed);
        let groups = comparison.groups.iter().filter(|group| {
            group.outputs.iter().any(|it| comparison.outputs[*it].status == Status::Changed)
        });
        let changed = match groups.count() {
            0 => format!("{} changed", counted(changed, "output")),
            groups => {
                format!("{} changed in {}", counted(changed, "output"), counted(groups, "group"))
            }
        };
        let always = [Status::Added, Status::Removed].map(|it| (count(it), it.as_str()));
        let sometimes = [
            (count(Status::Broken), "broken"),
            (count(Status::Repaired), "repaired"),
            (count(Status::Metadata), "with other metadata only"),
            (count(Status::NotComparable), "not comparable"),
            (comparison.inert(), "inert"),
            (comparison.outputs.iter().filter(|it| it.is_unexplained()).count(), "UNEXPLAINED"),
        ];
        let mut parts = vec![edits, changed];
        let told = always.into_iter().chain(sometimes.into_iter().filter(|(count, _)| *count > 0));
        parts.extend(told.map(|(count, what)| match what {
            "inert" => format!("{} without effect", counted(count, "edit")),
            what => format!("{count} {what}"),
        }));
        match self.shielded_sites() {
            0 => {}
            sites => parts.push(format!("{} shielded", counted(sites, "site"))),
        }
        parts.extend(unlisted_words(comparison.unlisted));
        parts.join(self.signs.between)
    }

    /// How many sites an edit would have reached, and did not.
    fn shielded_sites(&self) -> usize {
        let edits = self.comparison().edits.iter();
        let mut sites: Vec<_> = edits.flat_map(route::shielded_sites).collect();
        sites.sort_unstable();
        sites.dedup();
        sites.len()
    }

    fn findings_words(&self, findings: &FindingsTold<'_>) -> String {
        let of = |severity| -> usize {
            let new = findings.new.iter().filter(|it| it.severity == severity);
            new.map(|it| it.count).sum()
        };
        let kinds = [
            (of(Severity::Error), "new error"),
            (of(Severity::Warning), "new warning"),
            (of(Severity::Note), "new note"),
        ];
        let kinds: Vec<String> = kinds
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| counted(count, kind))
            .collect();
        let new = if kinds.is_empty() { "0 new".to_owned() } else { kinds.join(", ") };
        let unchanged: usize = findings.unchanged.iter().map(|it| it.count).sum();
        let hidden = match self.look.unchanged {
            Unchanged::Counted if unchanged > 0 => " (hidden, --all-findings)",
            Unchanged::Counted | Unchanged::Shown => "",
        };
        let mut parts = vec![
            new,
            format!("{} fixed", findings.fixed),
            format!("{unchanged} unchanged{hidden}"),
        ];
        parts.extend(suppressed_words(findings.suppressed));
        if findings.added_ignores > 0 {
            parts.push(counted(findings.added_ignores, "new ignore comment"));
        }
        format!("findings: {}", parts.join(self.signs.between))
    }
}
