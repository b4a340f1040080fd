//! Human-readable blame: the rendered document with a commit before each value, then the effects of
//! each commit; or the history of one value.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::iter::once;
use std::sync::Arc;

use super::leaves::{ChangedLeaves, LeafChange, LeafLine};
use super::{
    Blame, BlameAnswer, BlameCause, BlameEnd, BlamedChange, BlamedCommit, BlamedFinding,
    BlamedOutput, FurtherCommit, TextHistory, ValueHistory, ValueStep,
};
use crate::report::answer::AnswerPlace;
use crate::report::answer::since::LocatedEdit;
use crate::report::printable::clean;
use crate::report::signs::Signs;
use crate::report::story::describe_step;
use crate::report::terminal::painted;
use crate::report::text::{StyledText, TextRole};
use crate::report::{TerminalStyle, View, counted, wrap};
use crate::source::{DocKey, FileId, LoggedCommit, Span, offset};
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::path::children;
use crate::yaml::{Node, Value};

/// Number of digits of an abbreviated commit id.
const SHORT_ID: usize = 10;

/// Maximum number of lines of one value, or of changed leaves of one.
const MAX_LINES: usize = 10;

/// Writes a blame result for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    blame: &Blame,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = BlamePage {
        blame,
        view,
        style,
        signs: Signs::of(style),
        out,
    };
    match &blame.answer {
        BlameAnswer::Value(history) => page.value(history)?,
        BlameAnswer::Findings(findings) => page.findings(findings)?,
        BlameAnswer::Texts(texts) => page.texts(texts)?,
        BlameAnswer::Outputs(outputs) => match &outputs[..] {
            [output] => page.output(output)?,
            outputs => page.outputs(outputs)?,
        },
    }
    page.notes()
}

/// Writes steps of a value's history, with a heading before the first step.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_steps(
    part: &Blame,
    is_first: bool,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let BlameAnswer::Value(history) = &part.answer else {
        return Ok(());
    };
    let mut page = BlamePage {
        blame: part,
        view,
        style,
        signs: Signs::of(style),
        out,
    };
    if is_first {
        page.value_heading(history)?;
    }
    for step in &history.steps {
        writeln!(page.out)?;
        page.step(history, step)?;
    }
    Ok(())
}

/// Writes the notes that follow the steps of a value's history.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_end(
    blame: &Blame,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    BlamePage {
        blame,
        view,
        style,
        signs: Signs::of(style),
        out,
    }
    .notes()
}

struct BlamePage<'p> {
    blame: &'p Blame,
    view: &'p View<'p>,
    style: &'p TerminalStyle,
    signs: Signs,
    out: &'p mut dyn Write,
}

impl BlamePage<'_> {
    fn output(&mut self, output: &BlamedOutput) -> io::Result<()> {
        let name = named(&output.document);
        let at = AnswerPlace::new(output.at, self.view);
        let heading = format!("{}{name}{}{at}", self.site(), self.signs.between);
        let heading = painted(&heading, TextRole::Strong, self.style);
        writeln!(
            self.out,
            "{}\n",
            wrap(&heading, self.style.columns(), "", "  ")
        )?;
        self.yaml(output)?;
        writeln!(self.out)?;
        let mut by_commit: BTreeMap<usize, Vec<&BlamedChange>> = BTreeMap::new();
        for change in &output.changes {
            by_commit.entry(change.commit).or_default().push(change);
        }
        for (commit, changes) in by_commit {
            self.commit(commit, &changes)?;
        }
        Ok(())
    }

    fn site(&self) -> String {
        self.blame
            .site
            .as_ref()
            .map(|site| format!("{} ", clean(site)))
            .unwrap_or_default()
    }

    /// Writes the document as YAML with a commit before each value.
    fn yaml(&mut self, output: &BlamedOutput) -> io::Result<()> {
        /// Maximum number of lines shown of a block scalar.
        const MAX_TEXT_LINES: usize = 3;
        let mut values = Vec::new();
        let most = if output.is_cut {
            output.values.len()
        } else {
            usize::MAX
        };
        let Some(numbered) = numbered(&output.data, most, &mut values) else {
            return Ok(());
        };
        let origin = |span: Span| format!("{MARK}{}", span.start);
        let options = emit::EmitOptions {
            show_secrets: false,
            origin: Some(&origin),
        };
        let text = to_yaml(&numbered, &options);
        let blank = " ".repeat(SHORT_ID + 3);
        let mut lines = text.lines();
        let mut next = 0;
        while let Some(line) = lines.next() {
            let marked = line.rsplit_once(&format!("  # {MARK}"));
            let Some((line, _)) = marked.filter(|(_, number)| *number == next.to_string()) else {
                writeln!(self.out, "{blank}{}", clean(line))?;
                continue;
            };
            let before = self.before_value(output.change_of(next));
            writeln!(self.out, "{before}{}", clean(line))?;
            let body = lines_below(line, values[next]);
            for line in lines.by_ref().take(body.min(MAX_TEXT_LINES)) {
                writeln!(self.out, "{}", format!("{blank}{}", clean(line)).trim_end())?;
            }
            if body > MAX_TEXT_LINES {
                let more = counted(body - MAX_TEXT_LINES, "more line");
                let indent = line.len() - line.trim_start().len();
                writeln!(
                    self.out,
                    "{blank}{:indent$}  {} {more}",
                    "", self.signs.dots
                )?;
                lines.by_ref().take(body - MAX_TEXT_LINES).for_each(drop);
            }
            next += 1;
        }
        if output.is_cut {
            writeln!(
                self.out,
                "{blank}{} further values are not traced",
                self.signs.dots
            )?;
        }
        Ok(())
    }

    /// Formats the commit of a value, with a mark if the change came from another file.
    fn before_value(&self, change: Option<&BlamedChange>) -> String {
        let words = match change {
            Some(change) => format!("{} {} ", self.id(change), self.mark(change)),
            None => format!("{:<width$}   ", self.signs.dots, width = SHORT_ID),
        };
        painted(&words, TextRole::Dim, self.style)
    }

    /// Returns the abbreviated id of a change's commit; it begins with `^`, as in `git blame`, if
    /// earlier commits were not searched.
    fn id(&self, change: &BlamedChange) -> String {
        let id = self.short_id(&self.blame.commits[change.commit]);
        match change.end {
            BlameEnd::Cut | BlameEnd::Excluded => format!("^{}", &id[..SHORT_ID - 1]),
            BlameEnd::Changed | BlameEnd::SiteAdded | BlameEnd::First => id,
        }
    }

    fn short_id(&self, commit: &BlamedCommit) -> String {
        match &commit.commit {
            Some(commit) => short_id(&commit.id).to_owned(),
            None => "0".repeat(SHORT_ID),
        }
    }

    /// Returns the mark of a change that came from another file.
    fn mark(&self, change: &BlamedChange) -> &'static str {
        self.sign(!change.touched && change.end == BlameEnd::Changed)
    }

    fn sign(&self, is_from_elsewhere: bool) -> &'static str {
        match (is_from_elsewhere, self.style.unicode) {
            (true, true) => "↓",
            (true, false) => "v",
            (false, true) => "·",
            (false, false) => ".",
        }
    }

    fn commit(&mut self, commit: usize, changes: &[&BlamedChange]) -> io::Result<()> {
        self.commit_line(changes[0])?;
        let causes = changes.iter().flat_map(|change| &change.causes);
        self.causes(commit, changes, causes.collect())
    }

    /// Writes the abbreviated id, date, author and subject of a commit.
    fn commit_line(&mut self, change: &BlamedChange) -> io::Result<()> {
        let commit = &self.blame.commits[change.commit];
        let id = painted(&self.id(change), TextRole::Warning, self.style);
        let line = match &commit.commit {
            Some(commit) => format!("{id}  {}", describe_commit(commit)),
            None => format!("{id}  not committed yet"),
        };
        writeln!(
            self.out,
            "{}",
            wrap(&line, self.style.columns(), "", "    ")
        )
    }

    fn causes(
        &mut self,
        commit: usize,
        changes: &[&BlamedChange],
        causes: Vec<&Arc<BlameCause>>,
    ) -> io::Result<()> {
        /// Maximum number of edits of one commit that are listed.
        const MAX_EDITS: usize = 3;
        let mut lines: Vec<String> = Vec::new();
        let mut known = BTreeSet::new();
        for change in changes {
            lines.extend(self.describe_end(change));
        }
        let causes: Vec<&Arc<BlameCause>> = causes
            .into_iter()
            .filter(|cause| known.insert(cause.id))
            .collect();
        for cause in causes.iter().take(MAX_EDITS) {
            let mark = self.sign(!cause.is_in_own_file);
            lines.push(format!("{mark} {}", self.cause(cause)));
        }
        if causes.len() > MAX_EDITS {
            let more = counted(causes.len() - MAX_EDITS, "more edit");
            lines.push(format!("{} {more}", self.signs.dots));
        }
        let further = changes.iter().flat_map(|change| &change.further);
        for FurtherCommit { repository, commit } in further {
            let (id, words) = (short_id(&commit.id), describe_commit(commit));
            lines.push(format!("in {}: {id}  {words}", clean(repository)));
        }
        if let Some(renamed) = changes
            .iter()
            .find_map(|change| change.renamed_from.as_ref())
        {
            lines.push(format!(
                "renamed from {} {}",
                clean(&renamed.schema),
                clean(&renamed.name)
            ));
        }
        lines.extend(self.renamed_site(commit));
        lines.dedup();
        for line in lines {
            writeln!(
                self.out,
                "{}",
                wrap(&line, self.style.columns(), "    ", "      ")
            )?;
        }
        Ok(())
    }

    /// Describes the name of the site in a commit, if it differs from the requested name.
    fn renamed_site(&self, commit: usize) -> Option<String> {
        let site = self.blame.commits[commit].site.as_ref()?;
        (self.blame.site.as_ref() != Some(site))
            .then(|| format!("the site was named `{}`", clean(site)))
    }

    fn describe_end(&self, change: &BlamedChange) -> Vec<String> {
        let end = match change.end {
            BlameEnd::Changed => None,
            BlameEnd::SiteAdded => Some("the site was added".to_owned()),
            BlameEnd::First => Some("in the first commit".to_owned()),
            BlameEnd::Cut => Some("or earlier: this clone is shallow".to_owned()),
            BlameEnd::Excluded => Some("or earlier: not searched".to_owned()),
        };
        let over = match &change.passed_over[..] {
            [] => None,
            over => {
                let ids: Vec<String> = over
                    .iter()
                    .map(|at| self.short_id(&self.blame.commits[*at]))
                    .collect();
                Some(format!(
                    "or in {}, which cannot be rendered",
                    ids.join(", ")
                ))
            }
        };
        end.into_iter().chain(over).collect()
    }

    /// Formats an edit and its route to the output.
    fn cause(&self, cause: &BlameCause) -> String {
        let edited = AnswerPlace::new(cause.edit.at(), self.view).to_string();
        let path = LocatedEdit::new(&cause.edit, self.view).path;
        let route = cause.route.iter().skip(1).map(|hop| {
            let document = StyledText::plain(hop.document.name_and_layer());
            describe_step(hop.via, document).words()
        });
        let parts = once(edited).chain((!path.is_empty()).then(|| clean(&path).into_owned()));
        let parts =
            parts.chain(route.map(|words| format!("{} {}", self.signs.arrow, clean(&words))));
        parts.collect::<Vec<_>>().join(" ")
    }

    /// Writes a line for each output with the last commit that changed it.
    fn outputs(&mut self, outputs: &[BlamedOutput]) -> io::Result<()> {
        let mut sorted: Vec<&BlamedOutput> = outputs.iter().collect();
        sorted.sort_by_key(|output| output.last);
        for output in sorted {
            let key = &output.document;
            let name = named(key);
            let before = match output.last_change() {
                Some(change) => {
                    let commit = self.blame.commits[change.commit].commit.as_ref();
                    let date = commit.map_or("", |commit| &commit.date);
                    format!("{} {date:<10} {} ", self.id(change), self.mark(change))
                }
                None => format!("{:<width$} ", self.signs.dots, width = SHORT_ID + 13),
            };
            let before = painted(&before, TextRole::Dim, self.style);
            writeln!(self.out, "{before}{name}")?;
        }
        Ok(())
    }

    /// Writes the history of a value.
    fn value(&mut self, history: &ValueHistory) -> io::Result<()> {
        self.value_heading(history)?;
        for step in &history.steps {
            writeln!(self.out)?;
            self.step(history, step)?;
        }
        if history.steps.is_empty() {
            writeln!(self.out, "\nnone of the searched commits changed it")?;
        }
        Ok(())
    }

    fn value_heading(&mut self, history: &ValueHistory) -> io::Result<()> {
        let key = &history.document;
        let place = self.view.shown_location(&history.place).to_string();
        let heading = format!("{}{} {}", self.site(), named(key), clean(&place));
        let heading = painted(&heading, TextRole::Strong, self.style);
        writeln!(
            self.out,
            "{}",
            wrap(&heading, self.style.columns(), "", "  ")
        )
    }

    fn step(&mut self, history: &ValueHistory, step: &ValueStep) -> io::Result<()> {
        self.commit_line(&step.change)?;
        match step.collections() {
            Some(sides) => self.changed_leaves(sides, history)?,
            None => self.whole_values(step)?,
        }
        let change = &step.change;
        self.causes(change.commit, &[change], change.causes.iter().collect())
    }

    /// Writes a line for each changed leaf of two mappings or lists.
    fn changed_leaves(&mut self, sides: [&Node; 2], history: &ValueHistory) -> io::Result<()> {
        let leaves = ChangedLeaves::new(sides, &history.keys, self.view, MAX_LINES);
        for line in &leaves.lines {
            self.changed_leaf(line)?;
        }
        if leaves.more > 0 {
            let more = counted(leaves.more, "more value");
            writeln!(self.out, "    {} {more}", self.signs.dots)?;
        }
        Ok(())
    }

    fn changed_leaf(&mut self, LeafLine { path, change }: &LeafLine) -> io::Result<()> {
        let arrow = self.signs.arrow;
        let old = |text: &str| painted(text, TextRole::Error, self.style);
        let new = |text: &str| painted(text, TextRole::Good, self.style);
        let line = match change {
            LeafChange::Changed { before, after } => {
                format!("~ {path}: {} {arrow} {}", old(before), new(after))
            }
            LeafChange::Reordered { before, after } => {
                format!(
                    "~ {path} (order changed): {} {arrow} {}",
                    old(before),
                    new(after)
                )
            }
            LeafChange::Hidden => format!("~ {path}: {}", emit::HIDDEN),
            LeafChange::Unlisted(places) => {
                format!("~ {path}: {places} places differ, too many to list")
            }
            LeafChange::Added(value) => new(&format!("+ {path}: {value}")),
            LeafChange::Removed(value) => old(&format!("- {path}: {value}")),
        };
        writeln!(self.out, "    {line}")
    }

    /// Writes the value before and the value after a commit.
    fn whole_values(&mut self, step: &ValueStep) -> io::Result<()> {
        let is_secret = step.is_secret();
        let sides = [
            ("-", &step.before, TextRole::Error),
            ("+", &step.after, TextRole::Good),
        ];
        for (sign, value, role) in sides {
            let Some(value) = value else { continue };
            for line in value_lines(value, is_secret) {
                let line = format!("    {sign} {line}");
                writeln!(self.out, "{}", painted(&line, role, self.style))?;
            }
        }
        Ok(())
    }

    fn findings(&mut self, findings: &[BlamedFinding]) -> io::Result<()> {
        for (index, finding) in findings.iter().enumerate() {
            let at = AnswerPlace::new(finding.at, self.view);
            let heading = format!("{at} {} [{}]", clean(&finding.message), finding.rule);
            self.heading(index, &heading)?;
            match &finding.change {
                Some(change) => {
                    self.commit_line(change)?;
                    self.causes(change.commit, &[change], change.causes.iter().collect())?;
                }
                None => writeln!(self.out, "not searched")?,
            }
        }
        Ok(())
    }

    fn texts(&mut self, texts: &[TextHistory]) -> io::Result<()> {
        for (index, text) in texts.iter().enumerate() {
            let heading = format!(
                "{} {} {} {}",
                AnswerPlace::new(text.at, self.view),
                clean(&text.document.name_and_layer()),
                clean(&text.place),
                clean(&text.reach.to_string())
            );
            self.heading(index, &heading)?;
            for step in &text.steps {
                self.commit_line(&step.change)?;
                let before = step
                    .before
                    .as_ref()
                    .filter(|_| step.change.end == BlameEnd::Changed);
                let sides = [
                    ("-", before, TextRole::Error),
                    ("+", Some(&step.after), TextRole::Good),
                ];
                for (sign, state, role) in sides {
                    let Some(state) = state else { continue };
                    let line = format!("    {sign} {}", clean(&state.to_string()));
                    writeln!(self.out, "{}", painted(&line, role, self.style))?;
                }
                let change = &step.change;
                self.causes(change.commit, &[change], change.causes.iter().collect())?;
            }
        }
        Ok(())
    }

    fn heading(&mut self, index: usize, heading: &str) -> io::Result<()> {
        if index > 0 {
            writeln!(self.out)?;
        }
        let heading = painted(heading, TextRole::Strong, self.style);
        writeln!(
            self.out,
            "{}",
            wrap(&heading, self.style.columns(), "", "  ")
        )
    }

    /// Writes notes on skipped commits and on how to search more of the history.
    fn notes(&mut self) -> io::Result<()> {
        let mut notes: Vec<String> = Vec::new();
        if !self.blame.unusable.is_empty() {
            let (count, were) = match self.blame.unusable.len() {
                1 => ("1 commit".to_owned(), "was"),
                count => (counted(count, "commit"), "were"),
            };
            notes.push(format!("{count} cannot be rendered and {were} skipped:"));
            for (commit, at) in &self.blame.unusable {
                let commit = &self.blame.commits[*commit];
                let subject = commit.commit.as_ref().map_or("", |commit| &commit.subject);
                let place =
                    at.map(|at| format!("{} cannot be read", AnswerPlace::new(at, self.view)));
                let place = place.unwrap_or_else(|| "layercake failed".to_owned());
                notes.push(format!(
                    "  {}  {place}  {}",
                    self.short_id(commit),
                    clean(subject)
                ));
            }
        }
        notes.extend(self.blame.end.note().map(str::to_owned));
        notes.extend(self.blame.unshallow.clone());
        for (index, note) in notes.iter().enumerate() {
            let before = if index == 0 { "\n" } else { "" };
            writeln!(
                self.out,
                "{before}{}",
                wrap(note, self.style.columns(), "", "      ")
            )?;
        }
        Ok(())
    }
}

/// Returns the abbreviated form of a commit id.
pub(in crate::report) fn short_id(id: &str) -> &str {
    id.get(..SHORT_ID).unwrap_or(id)
}

/// Formats the date, author and subject of a commit.
pub(in crate::report) fn describe_commit(commit: &LoggedCommit) -> String {
    let parts = [&commit.date, &commit.author, &commit.subject];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts
        .map(|part| clean(part).into_owned())
        .collect::<Vec<_>>()
        .join("  ")
}

/// Formats a document's schema, if any, and name.
fn named(key: &DocKey) -> String {
    let name = key.name_and_layer();
    let words = [&*key.schema, &name]
        .into_iter()
        .filter(|word| !word.is_empty());
    words
        .map(|word| clean(word).into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Formats a value as lines, with secrets hidden.
fn value_lines(value: &Node, is_secret: bool) -> Vec<String> {
    if is_secret {
        return vec![emit::HIDDEN.to_owned()];
    }
    let text = match &value.value {
        Value::String(text) if !text.contains('\n') => text.to_string(),
        _ => to_yaml(value, &emit::EmitOptions::default()),
    };
    let mut lines: Vec<String> = text.lines().map(|line| clean(line).into_owned()).collect();
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("… {}", counted(more, "more line")));
    }
    lines
}

/// Marks the index of a value in emitted YAML; a code point of the private use area.
const MARK: char = '\u{e000}';

/// Returns the data up to its first `most` values, with each value's span replaced by its index in
/// `values`; `None` if there is none.
fn numbered<'n>(node: &'n Node, most: usize, values: &mut Vec<&'n Node>) -> Option<Node> {
    if values.len() >= most {
        return None;
    }
    let is_whole = node.secret || children(node).next().is_none();
    let value = match &node.value {
        _ if is_whole => {
            let span = Span::point(FileId::default(), offset(values.len()));
            values.push(node);
            return Some(Node {
                span,
                ..node.clone()
            });
        }
        Value::Sequence(items) => {
            let items = items.iter().map_while(|item| numbered(item, most, values));
            Value::from(items.collect::<Vec<_>>())
        }
        Value::Mapping(entries) => {
            let entries = entries
                .iter()
                .map_while(|(key, node)| Some((key.clone(), numbered(node, most, values)?)));
            Value::Mapping(Arc::new(entries.collect()))
        }
        other => other.clone(),
    };
    Some(Node {
        value,
        ..node.clone()
    })
}

/// Returns the number of lines after the line with the key that belong to the value.
fn lines_below(line: &str, value: &Node) -> usize {
    let is_block = line
        .rsplit(' ')
        .next()
        .is_some_and(|word| word.starts_with('|'));
    match &value.value {
        Value::String(text) if is_block && !value.secret => text.lines().count(),
        _ => 0,
    }
}
