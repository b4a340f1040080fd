//! One edit, or several with the same reach: where it is, what became of its
//! value, and how far that went.

use std::io::{self, Write};

use super::fold::Fold;
use super::{Page, edit_words, names, route, value};
use crate::compare::reach::EditReach;
use crate::edit::{Edit, EditKind, Part, Text};
use crate::report::counted;
use crate::report::printable::clean;
use crate::report::terminal::Ink;

impl<'a> Page<'a> {
    pub(super) fn write_title(&self, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
        let all = self.comparison().edits.len();
        let title = self.paint(Ink::Bold, &format!("{} of {all}", edit_words(&fold.edits)));
        let place = match fold.edits[..] {
            [only] => self.place(self.reach(only).edit.at()),
            _ => match self.common_file(fold) {
                Some(file) => clean(file).into_owned(),
                None => return writeln!(out, "{title}"),
            },
        };
        writeln!(out, "{title}  {place}")
    }

    /// The file that all edits of a fold are in, if it is one.
    fn common_file(&self, fold: &Fold) -> Option<&'a str> {
        let mut files =
            fold.edits.iter().map(|it| self.view.place(self.reach(*it).edit.at()).path.as_str());
        let first = files.next()?;
        files.all(|file| file == first).then_some(first)
    }

    /// The edits of a fold; what was done alike in several places is told once.
    pub(super) fn write_values(&self, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
        let mut alike: Vec<(value::Lines, Vec<&Edit>)> = Vec::new();
        for id in &fold.edits {
            let edit = &self.reach(*id).edit;
            let lines = self.lines(edit);
            let same = alike.iter_mut().find(|(told, edits)| {
                *told == lines && edits[0].document == edit.document && edits[0].kind == edit.kind
            });
            match same {
                Some((_, edits)) => edits.push(edit),
                None => alike.push((lines, vec![edit])),
            }
        }
        for (lines, edits) in alike.iter().take(self.limit()) {
            self.write_subjects(fold, edits, out)?;
            self.write_lines(lines, out)?;
        }
        self.write_more(alike.len(), "change", "  ", out)
    }

    fn write_subjects(&self, fold: &Fold, edits: &[&Edit], out: &mut dyn Write) -> io::Result<()> {
        if fold.edits.len() == 1 {
            return writeln!(out, "  {}", self.names.subject(edits[0], self.view));
        }
        let is_one_file = self.common_file(fold).is_some();
        let what = self.names.what(edits[0], self.view);
        if !what.is_empty() {
            writeln!(out, "  {what}")?;
        }
        for edit in edits.iter().take(self.limit()) {
            let place = if is_one_file {
                format!(":{}", self.view.place(edit.at()).line)
            } else {
                self.place(edit.at())
            };
            writeln!(out, "  {place}  {}", names::path(edit, self.view))?;
        }
        self.write_more(edits.len(), "place", "  ", out)
    }

    fn lines(&self, edit: &Edit) -> value::Lines {
        if edit.kind == EditKind::Moved {
            let place = |text: Option<&Text>| text.map(|it| self.view.place(it.at));
            let [base, head] = [edit.base.as_ref(), edit.head.as_ref()].map(place);
            let is_in_file = base.as_ref().map(|it| it.path) == head.as_ref().map(|it| it.path);
            let sides = [base, head].map(|place| {
                let place = place?;
                let path = clean(place.path.as_str());
                Some(if is_in_file { format!("{path}:{}", place.line) } else { path.into_owned() })
            });
            return value::Lines::plain(sides);
        }
        let sides = match edit.part {
            Part::Whole => [None, None],
            Part::Data | Part::Metadata | Part::Root => {
                let texts = [edit.base.as_ref(), edit.head.as_ref()];
                texts.map(|text| text.and_then(|it| it.node.as_ref()))
            }
        };
        let room = self.style.columns().saturating_sub("  - ".len());
        let mut lines = value::Lines::of(sides, edit.is_secret(), room, &self.signs);
        if edit.unlisted > 0 {
            lines.note = Some(format!("{} places differ, too many to be listed", edit.unlisted));
        }
        lines
    }

    fn write_lines(&self, lines: &value::Lines, out: &mut dyn Write) -> io::Result<()> {
        if let Some(note) = &lines.note {
            writeln!(out, "  {note}")?;
        }
        for line in &lines.base {
            writeln!(out, "  {}", self.paint(Ink::Red, &format!("- {line}")))?;
        }
        for line in &lines.head {
            writeln!(out, "  {}", self.paint(Ink::Green, &format!("+ {line}")))?;
        }
        Ok(())
    }

    pub(super) fn write_reach(
        &self,
        at: usize,
        fold: &Fold,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let reach = self.reach(fold.edits[0]);
        if reach.edit.kind == EditKind::File && !reach.outputs.is_empty() {
            let mut text = format!("{} cannot be compared", counted(reach.outputs.len(), "output"));
            if self.sites() > 0 {
                let sites = counted(self.sites(), "site");
                text += &format!(", in {} of {sites}", reach.sites.len());
            }
            self.write_paragraph("  ", &text, out)?;
            writeln!(out)?;
        } else if reach.outputs.is_empty() {
            let verb = if fold.edits.len() == 1 { "reaches" } else { "reach" };
            writeln!(out, "  {verb} no output\n")?;
        } else {
            self.write_paragraph("  ", &self.reach_words(reach, fold.edits.len()), out)?;
            self.write_table(at, fold, out)?;
            writeln!(out)?;
            self.write_longest_route(at, fold, out)?;
        }
        self.write_stops(fold, out)
    }

    fn reach_words(&self, reach: &EditReach, edits: usize) -> String {
        let verb = if edits == 1 { "reaches" } else { "reach the same" };
        let count = reach.outputs.len();
        let mut text = format!("{verb} {}", counted(count, "output"));
        if self.sites() > 0 {
            text += &format!(" in {} of {}", reach.sites.len(), counted(self.sites(), "site"));
        }
        text + &match reach.untouched {
            0 => String::new(),
            1 if count == 1 => "; it comes from a file you did not touch".to_owned(),
            all if all == count => "; all of them come from files you did not touch".to_owned(),
            1 => "; 1 of them comes from a file you did not touch".to_owned(),
            some => format!("; {some} of them come from files you did not touch"),
        }
    }

    pub(super) fn brief_reach(&self, reach: &EditReach) -> String {
        let mut text = match reach.outputs.len() {
            0 if reach.shields.is_empty() => "changes nothing".to_owned(),
            count if self.sites() == 0 => counted(count, "output"),
            count => {
                format!("{} in {}", counted(count, "output"), counted(reach.sites.len(), "site"))
            }
        };
        if !reach.shields.is_empty() {
            let stopped = route::shielded_sites(reach);
            text += &match (self.sites(), stopped.len()) {
                (0, _) | (_, 0) => ", shielded in part".to_owned(),
                (_, sites) => format!(", {} shielded", counted(sites, "site")),
            };
        }
        text
    }
}
