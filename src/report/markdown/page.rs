//! What stands where on a page.

use super::detail::{Detail, Told};
use super::digest::{Digest, STATUSES, Site};
use super::paper::{Alert, Column, Full, Paper};
use super::words::{self, Words};
use crate::report::counted;
use crate::report::json::{EditForm, StatusForm};

/// A page being written.
pub(super) struct Page<'a> {
    pub(super) digest: &'a Digest<'a>,
    pub(super) detail: Detail,
    pub(super) words: Words<'a>,
    pub(super) paper: Paper,
    /// So many rows of groups may still be written.
    pub(super) room: usize,
    /// What was left out.
    pub(super) left: Left,
}

/// What was left out, besides what the level says.
#[derive(Default)]
pub(super) struct Left {
    pub(super) routes: usize,
    pub(super) sites: usize,
    pub(super) values: usize,
    pub(super) rows: usize,
    pub(super) edits: usize,
    pub(super) findings: usize,
    pub(super) others: usize,
}

/// Writes a page of this much detail, if it is no longer than so many bytes.
pub(super) fn write(digest: &Digest<'_>, detail: Detail, most: usize) -> Result<String, Full> {
    let words = Words { digest, detail };
    let paper = Paper::new(most);
    let mut page =
        Page { digest, detail, words, paper, room: detail.groups, left: Left::default() };
    page.write_headline()?;
    page.write_unexplained()?;
    page.write_findings()?;
    page.write_sites()?;
    page.write_edits()?;
    page.write_inert()?;
    page.write_closing()?;
    Ok(page.paper.into_text())
}

impl Page<'_> {
    fn write_headline(&mut self) -> Result<(), Full> {
        let text = match self.digest.report.comparison {
            None => self.state_words(),
            Some(_) => self.reach_words(),
        };
        let semantics = self.digest.report.semantics;
        let semantics = semantics.map(|it| format!(" · {it}")).unwrap_or_default();
        self.paper.heading(3, &format!("layercake: {text}{semantics}"))
    }

    /// Without a comparison: what was found, in how much.
    fn state_words(&self) -> String {
        let totals = &self.digest.report.totals;
        let outputs = counted(totals.outputs, "rendered document");
        let scope = match totals.sites {
            0 => outputs,
            sites => format!("{outputs} of {}", counted(sites, "site")),
        };
        format!("{} in {scope}", self.counts_of_findings())
    }

    fn reach_words(&self) -> String {
        let totals = &self.digest.report.totals;
        let report = self.digest.report;
        let edits = counted(totals.edits, "edit");
        if !report.outputs.is_empty() {
            let verb = if totals.edits == 1 { "changes" } else { "change" };
            let outputs = counted(report.outputs.len(), "rendered document");
            let scope = match self.digest.touched() {
                0 => String::new(),
                touched => {
                    // A site that went is none of those there are.
                    let all = totals.sites.max(touched);
                    format!(" in {touched} of {}", counted(all, "site"))
                }
            };
            return format!("{edits} {verb} {outputs}{scope}");
        }
        let is_known = report.edits.iter().all(EditForm::is_inert);
        let is_safe = self.digest.findings.is_empty() && totals.edits > 0 && is_known;
        let verdict = if is_safe { ": safe refactor" } else { "" };
        format!("{edits}, 0 rendered documents changed{verdict}")
    }

    /// Every output of which a change has no edit behind it, before all else.
    fn write_unexplained(&mut self) -> Result<(), Full> {
        let unexplained = &self.digest.report.unexplained;
        if unexplained.is_empty() {
            return Ok(());
        }
        let verb = if unexplained.len() == 1 { "has" } else { "have" };
        let title = format!(
            "**Unexplained**: {} {verb} changes that no edit explains. This is a fault of \
             layercake, not of your documents: do not rely on the causes below for these outputs, \
             and please report it.",
            counted(unexplained.len(), "rendered document")
        );
        let few = self.detail.others.min(unexplained.len());
        let names = unexplained.iter().take(few).map(|it| {
            let document = self.words.output(&it.schema, &it.name);
            match it.site.as_deref() {
                Some(site) => format!("{document} in {}", self.words.code(site)),
                None => document,
            }
        });
        let mut names = names.collect::<Vec<_>>().join("; ");
        if few < unexplained.len() {
            names += &format!(" and {} more", unexplained.len() - few);
            self.left.others += unexplained.len() - few;
        }
        self.paper.alert(Alert::Caution, &[title, names])
    }

    /// Sites in which something changed or was stopped.
    fn write_sites(&mut self) -> Result<(), Full> {
        /// So many sites are listed where their names give way.
        const FEW: usize = 50;
        if self.digest.sites.is_empty() {
            return Ok(());
        }
        let most = match self.detail.members {
            Told::Yes => self.detail.others,
            Told::No => FEW.min(self.detail.others),
        };
        let columns = self.columns();
        let heads: Vec<Column> = std::iter::once(Column::Text("site"))
            .chain(columns.iter().map(|at| Column::Number(heading(STATUSES[*at]))))
            .chain([Column::Text("touched by")])
            .collect();
        let sites = self.digest.sites.iter().take(most);
        let words = self.words;
        let rows = sites.map(|(name, site)| {
            let counts = columns.iter().map(|at| site.counts[*at].to_string());
            let first = std::iter::once(words.code(name));
            first.chain(counts).chain([words.touch(site)]).collect()
        });
        self.paper.table_of(&heads, rows)?;
        match self.digest.sites.len().saturating_sub(most) {
            0 => Ok(()),
            more => {
                self.left.sites += more;
                self.paper.paragraph(&format!("and {}", counted(more, "more site")))
            }
        }
    }

    /// The columns of figures: three always, others where there is one to tell.
    fn columns(&self) -> Vec<usize> {
        let is_told = |at: &usize| match STATUSES[*at] {
            StatusForm::Changed | StatusForm::Added | StatusForm::Removed => true,
            StatusForm::Broken
            | StatusForm::Repaired
            | StatusForm::Metadata
            | StatusForm::NotComparable => {
                self.digest.sites.values().any(|site| site.counts[*at] > 0)
            }
        };
        (0..STATUSES.len()).filter(is_told).collect()
    }
}

fn heading(status: StatusForm) -> &'static str {
    if status == StatusForm::Metadata { "metadata only" } else { status.as_str() }
}

impl Words<'_> {
    /// What touched a site, or what kept it from being touched.
    fn touch(self, site: &Site<'_>) -> String {
        match (site.edits.is_empty(), &site.shields[..]) {
            (true, [first, rest @ ..]) => {
                let more = match rest.len() {
                    0 => String::new(),
                    more => format!(" and {}", counted(more, "more place")),
                };
                format!("shielded at {}{more}", self.short_shield_place(first))
            }
            (true, []) => String::new(),
            (false, _) => words::edits(&site.edits),
        }
    }
}
