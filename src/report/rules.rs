//! List of rules with their configured levels, as a table and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::model::write_json;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, wrap};
use crate::diagnostic::{Level, Rule, Trait};

/// A rule with its configured level.
#[derive(Clone, Debug)]
pub struct RuleRow {
    /// The rule.
    pub(crate) rule: &'static Rule,
    /// Configured level.
    pub(crate) level: Level,
    /// The groups that select it.
    pub(crate) groups: Vec<&'static str>,
}

impl RuleRow {
    /// Returns the names of the special properties of the rule.
    fn marks(&self) -> Vec<&'static str> {
        let mark = |which: &Trait| match which {
            Trait::Strict => Some("strict"),
            Trait::OptIn => Some("opt-in"),
            Trait::Fixable => Some("fixable"),
            Trait::UnsafelyFixable => Some("unsafely-fixable"),
            Trait::Everywhere
            | Trait::Refused
            | Trait::Unreadable
            | Trait::UnreadDocument
            | Trait::UnknownDocuments
            | Trait::Absence
            | Trait::Cause
            | Trait::Always => None,
        };
        self.rule.traits.iter().filter_map(mark).collect()
    }
}

/// Writes each rule: name, configured level, special properties with other codes, and summary.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(rows: &[RuleRow], style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let marks = |row: &RuleRow| {
        row.marks()
            .into_iter()
            .chain(row.rule.aliases.iter().copied())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let lines = rows.iter().map(|row| (row.rule, row.level, marks(row)));
    write_lines(&lines.collect::<Vec<_>>(), style, out)
}

/// Writes each rule: name, default level and summary.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_list(
    rules: &[&'static Rule],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = rules
        .iter()
        .map(|rule| (*rule, rule.level(), String::new()));
    write_lines(&lines.collect::<Vec<_>>(), style, out)
}

/// Writes a line for each rule; the summary moves to the next line on a narrow terminal.
fn write_lines(
    lines: &[(&'static Rule, Level, String)],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = lines
        .iter()
        .map(|(rule, ..)| rule.name.len())
        .max()
        .unwrap_or(0);
    let marks = lines
        .iter()
        .map(|(.., marks)| marks.len())
        .max()
        .unwrap_or(0);
    let room = style.columns();
    for (rule, level, mark) in lines {
        let name = painted(&format!("{:names$}", rule.name), TextRole::Strong, style);
        let space = if marks == 0 {
            String::new()
        } else {
            format!("  {mark:marks$}")
        };
        let head = format!("{name}  {:7}{space}  ", level.as_str());
        let width = names + 2 + 7 + 2 + if marks == 0 { 0 } else { marks + 2 };
        let text = if width + MIN_SUMMARY <= room {
            wrap(rule.summary, room, &head, &" ".repeat(width))
        } else {
            format!(
                "{}\n{}",
                head.trim_end(),
                wrap(rule.summary, room, "    ", "    ")
            )
        };
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// Minimum width of the summary in columns, beside the name.
const MIN_SUMMARY: usize = 36;

/// Writes the rules as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_rules_json(rows: &[RuleRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(
        &RulesReport {
            rules: rows.iter().map(RuleForm::of).collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct RulesReport<'a> {
    rules: Vec<RuleForm<'a>>,
}

#[derive(Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says another thing to programs"
)]
struct RuleForm<'a> {
    name: &'a str,
    level: &'a str,
    default_level: &'a str,
    summary: &'a str,
    aliases: &'a [&'a str],
    groups: &'a [&'static str],
    fixable: bool,
    unsafely_fixable: bool,
    strict: bool,
    opt_in: bool,
    refused_by_deckhand: bool,
}

impl<'a> RuleForm<'a> {
    fn of(row: &'a RuleRow) -> Self {
        let rule = row.rule;
        Self {
            name: rule.name,
            level: row.level.as_str(),
            default_level: rule.level().as_str(),
            summary: rule.summary,
            aliases: rule.aliases,
            groups: &row.groups,
            fixable: rule.is(Trait::Fixable),
            unsafely_fixable: rule.is(Trait::UnsafelyFixable),
            strict: rule.is(Trait::Strict),
            opt_in: rule.is(Trait::OptIn),
            refused_by_deckhand: rule.is(Trait::Refused),
        }
    }
}
