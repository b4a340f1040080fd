//! The rules as a table and for programs, with their levels as configured.

use std::io::{self, Write};

use serde::Serialize;

use super::json::write_json;
use crate::diagnostic::{Level, Rule, Trait};

/// One rule, as it counts.
#[derive(Clone, Debug)]
pub struct RuleRow {
    /// The rule.
    pub rule: &'static Rule,
    /// Its level.
    pub level: Level,
    /// The groups that select it.
    pub groups: Vec<&'static str>,
}

impl RuleRow {
    /// What is special about the rule, in words.
    fn marks(&self) -> Vec<&'static str> {
        let mark = |which: &Trait| match which {
            Trait::Strict => Some("strict"),
            Trait::OptIn => Some("opt-in"),
            Trait::Fixable => Some("fixable"),
            Trait::UnsafelyFixable => Some("unsafely-fixable"),
            Trait::Everywhere | Trait::Refused | Trait::Unreadable | Trait::Always => None,
        };
        self.rule.traits.iter().filter_map(mark).collect()
    }
}

/// Writes one line for each rule: its name, its level, what is special about
/// it with the codes it answers to, and what it finds.
///
/// # Errors
/// Those of `out`.
pub fn write(rows: &[RuleRow], out: &mut dyn Write) -> io::Result<()> {
    let told = |row: &RuleRow| {
        let marks = row.marks().into_iter().chain(row.rule.aliases.iter().copied());
        marks.collect::<Vec<_>>().join(" ")
    };
    let width = |of: &dyn Fn(&RuleRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (names, marks) = (width(&|row| row.rule.name.len()), width(&|row| told(row).len()));
    for row in rows {
        let (name, level, summary) = (row.rule.name, row.level.as_str(), row.rule.summary);
        writeln!(out, "{name:names$}  {level:7}  {:marks$}  {summary}", told(row))?;
    }
    Ok(())
}

/// Writes the rules for programs.
///
/// # Errors
/// Those of `out`.
pub fn write_rules_json(rows: &[RuleRow], out: &mut dyn Write) -> io::Result<()> {
    write_json(&Report { rules: rows.iter().map(Row::of).collect() }, out)
}

#[derive(Serialize)]
struct Report<'a> {
    rules: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing to programs")]
struct Row<'a> {
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

impl<'a> Row<'a> {
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
