//! The way of an edit, step by step, and the lines at which it stopped.

use std::io::{self, Write};
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use super::Page;
use super::fold::{Fold, cause_of};
use super::names::Names;
use crate::compare::reach::{EditReach, Shield, Why};
use crate::compare::{Cause, Hop, Via};
use crate::edit::EditId;
use crate::report::counted;
use crate::report::printable::clean;
use crate::report::terminal::Ink;
use crate::report::wrap;
use crate::source::{DocKey, Span};

const INDENT: &str = "    ";

/// A space at which no line ends.
const NO_BREAK: &str = "\u{a0}";

/// The sites that an edit would have reached, and in which it reached nothing.
pub(super) fn shielded_sites(reach: &EditReach) -> Vec<&Arc<str>> {
    let stopped = reach.shields.iter().filter_map(|it| it.site.as_ref());
    let mut sites: Vec<&Arc<str>> = stopped.filter(|site| !reach.sites.contains(site)).collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// An arrow that begins a line, where one has to end beside it.
fn tied(arrow: &str) -> String {
    format!(" {}{NO_BREAK}", arrow.trim())
}

impl Page<'_> {
    /// Writes the longest of the ways of a fold, if it has steps to tell.
    pub(super) fn write_longest_route(
        &self,
        at: usize,
        fold: &Fold,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some((output, cause)) = self.longest(at, fold) else { return Ok(()) };
        let change = &self.comparison().outputs[output];
        let site = change.site.as_deref().map(|site| format!("{} ", Names::site(site)));
        let edit = match fold.edits[..] {
            [_] => String::new(),
            _ => format!("edit {}, ", cause.edit.index() + 1),
        };
        let (site, name) = (site.unwrap_or_default(), self.names.output(&change.key));
        let hops = counted(cause.route.len() - 1, "hop");
        writeln!(out, "  route of the longest: {edit}{site}{name}, {hops}")?;
        self.write_steps(&cause.route, out)?;
        writeln!(out)
    }

    fn longest(&self, at: usize, fold: &Fold) -> Option<(usize, &Cause)> {
        let edit = fold.edits[0];
        let outputs = self.reach(edit).outputs.iter().copied();
        let own = outputs.filter(|output| self.owners[*output] == Some(at));
        let causes = own.filter_map(|it| Some((it, cause_of(self.comparison(), edit, it)?)));
        let mut longest: Option<(usize, &Cause)> = None;
        for (output, cause) in causes.filter(|(_, cause)| cause.route.len() > 1) {
            if longest.is_none_or(|(_, known)| known.route.len() < cause.route.len()) {
                longest = Some((output, cause));
            }
        }
        longest
    }

    fn write_steps(&self, route: &[Hop], out: &mut dyn Write) -> io::Result<()> {
        let arrow = format!(" {} ", self.signs.arrow);
        let step = |hop: &Hop| (self.places(&hop.at, &arrow), self.step_words(hop));
        let steps: Vec<(String, String)> = route.iter().map(step).collect();
        let places = steps.iter().map(|(places, _)| places.width()).max().unwrap_or(0);
        let words = steps.iter().map(|(_, words)| words.width()).max().unwrap_or(0);
        let fits = INDENT.len() + places + 2 + words <= self.style.columns();
        for (place, words) in &steps {
            let padding = " ".repeat(places - place.width());
            if fits {
                writeln!(out, "{INDENT}{place}{padding}  {words}")?;
            } else {
                let rest = format!("{INDENT}  ");
                let tied = place.replace(&arrow, &tied(&arrow));
                let place = wrap(&tied, self.style.columns(), INDENT, &rest).replace(NO_BREAK, " ");
                writeln!(out, "{place}\n{rest}{words}")?;
            }
        }
        Ok(())
    }

    /// Places, the file of each said once: `a.yaml:26 → :28`.
    fn places(&self, spans: &[Span], between: &str) -> String {
        let mut text = String::new();
        let mut before = None;
        for span in spans {
            let place = self.view.place(*span);
            let here = (place.path.as_str(), place.line);
            match before {
                Some(told) if told == here => continue,
                Some((file, _)) if file == here.0 => {
                    text += &format!("{between}:{}", place.line);
                }
                Some(_) => text += &format!("{between}{}", self.place(*span)),
                None => text += &self.place(*span),
            }
            before = Some(here);
        }
        text
    }

    fn step_words(&self, hop: &Hop) -> String {
        let document = self.names.document(&hop.document);
        match hop.via {
            Via::Edited => "edited".to_owned(),
            Via::Inherited => format!("inherited by {document}"),
            Via::Substituted => format!("substituted into {document}"),
            Via::Merged => format!("merged into {document}"),
            Via::Replaced => format!("replaced by {document}"),
            Via::Retargeted => format!("retargeted: {document} finds another parent"),
            Via::Unparented => format!("unparented: {document} finds no parent"),
            Via::Added => format!("added: {document}"),
            Via::Removed => format!("removed: {document}"),
            Via::Policy => format!("policy: the layers or files that {document} is in"),
        }
    }

    /// Writes where a fold stopped: first the sites in which it reached
    /// nothing, then documents of the others.
    pub(super) fn write_stops(&self, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
        let reach = self.reach(fold.edits[0]);
        if reach.shields.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {}", self.paint(Ink::Bold, "stops at"))?;
        let mut lines = self.whole_stops(fold);
        lines.extend(self.partial_stops(fold));
        for line in lines.iter().take(self.limit()) {
            let rest = format!("{INDENT}  ");
            writeln!(out, "{}", wrap(line, self.style.columns(), INDENT, &rest))?;
        }
        self.write_more(lines.len(), "place", INDENT, out)?;
        writeln!(out)
    }

    /// Sites without any reached output, those with the same lines together.
    fn whole_stops(&self, fold: &Fold) -> Vec<String> {
        let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
        for site in shielded_sites(self.reach(fold.edits[0])) {
            let here = self.shields(fold).filter(|it| it.site.as_ref() == Some(site));
            let words = self.stop_words(here);
            match alike.iter_mut().find(|(known, _)| *known == words) {
                Some((_, sites)) => sites.push(site),
                None => alike.push((words, vec![site])),
            }
        }
        let lines = alike.into_iter().map(|(words, sites)| {
            let sites: Vec<_> = sites.into_iter().map(clean).collect();
            format!("{}  0 outputs: {words}", sites.join(" "))
        });
        lines.collect()
    }

    /// Documents that stopped an edit in sites in which it reached others.
    fn partial_stops(&self, fold: &Fold) -> Vec<String> {
        let whole = shielded_sites(self.reach(fold.edits[0]));
        let is_partial = |it: &&Shield| it.site.as_ref().is_none_or(|site| !whole.contains(&site));
        let partial: Vec<&Shield> = self.shields(fold).filter(is_partial).collect();
        let mut documents: Vec<(&DocKey, Option<&Arc<str>>)> =
            partial.iter().map(|it| (&it.document, it.site.as_ref())).collect();
        documents.sort();
        documents.dedup();
        let mut alike: Vec<(&DocKey, String, Vec<&str>)> = Vec::new();
        for (document, site) in documents {
            let is_here = |it: &&Shield| it.document == *document && it.site.as_ref() == site;
            let words = self.stop_words(partial.iter().copied().filter(is_here));
            let site = site.map(|it| &**it);
            match alike.iter_mut().find(|it| it.0 == document && it.1 == words) {
                Some((_, _, sites)) => sites.extend(site),
                None => alike.push((document, words, site.into_iter().collect())),
            }
        }
        let lines = alike.into_iter().map(|(document, words, sites)| {
            let sites: Vec<_> = sites.into_iter().map(clean).collect();
            let sites =
                if sites.is_empty() { String::new() } else { format!("  in {}", sites.join(" ")) };
            format!("{}{sites}: {words}", self.names.document(document))
        });
        lines.collect()
    }

    fn shields<'s>(&'s self, fold: &'s Fold) -> impl Iterator<Item = &'s Shield> {
        fold.edits.iter().flat_map(|edit: &EditId| &self.reach(*edit).shields)
    }

    /// Why and where: `set again at a.yaml:78 and 6 more places`.
    fn stop_words<'s>(&self, shields: impl Iterator<Item = &'s Shield>) -> String {
        const FEW: usize = 3;
        let mut by_why: Vec<(Why, Vec<Span>)> = Vec::new();
        for shield in shields {
            match by_why.iter_mut().find(|(why, _)| *why == shield.why) {
                Some((_, places)) if places.contains(&shield.by) => {}
                Some((_, places)) => places.push(shield.by),
                None => by_why.push((shield.why, vec![shield.by])),
            }
        }
        let parts = by_why.into_iter().map(|(why, mut places)| {
            let more = places.len().saturating_sub(FEW);
            places.truncate(FEW);
            let places = self.places(&places, ", ");
            let more = match more {
                0 => String::new(),
                more => format!(" and {}", counted(more, "more place")),
            };
            format!("{} at {places}{more}", why.as_str())
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}
