//! The rows of the table of consequences that have a class or a caution, with their sources.

use std::io::{self, Write};

use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, wrap};
use crate::deployment::{Caution, Class, ConsequenceTable, Row};

/// A class or a caution of the table of consequences.
#[derive(Clone, Copy, Debug)]
pub struct ConsequenceWord(Word);

#[derive(Clone, Copy, Debug)]
enum Word {
    Class(Class),
    Caution(Caution),
}

impl ConsequenceWord {
    /// All words, classes first.
    pub fn all() -> impl Iterator<Item = Self> {
        let classes = Class::ALL.iter().copied().map(Word::Class);
        let cautions = Caution::ALL.iter().copied().map(Word::Caution);
        classes.chain(cautions).map(Self)
    }

    /// The word as the table spells it.
    pub fn as_str(self) -> &'static str {
        match self.0 {
            Word::Class(class) => class.as_str(),
            Word::Caution(caution) => caution.as_str(),
        }
    }

    fn meaning(self) -> &'static str {
        match self.0 {
            Word::Class(class) => class.meaning(),
            Word::Caution(caution) => caution.meaning(),
        }
    }

    fn has(self, row: &Row) -> bool {
        match self.0 {
            Word::Class(class) => row.class == class || row.also == Some(class),
            Word::Caution(caution) => row.cautions.contains(&caution),
        }
    }
}

/// Writes the words with their meanings.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_list(style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    for word in ConsequenceWord::all() {
        let first = format!("{:<22}", word.as_str());
        let rest = " ".repeat(first.len());
        let text = wrap(word.meaning(), style.columns(), &first, &rest);
        let (name, meaning) = text.split_at(word.as_str().len());
        writeln!(out, "{}{meaning}", painted(name, TextRole::Strong, style))?;
    }
    Ok(())
}

/// Writes what a word means, and its rows.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(word: ConsequenceWord, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let name = painted(word.as_str(), TextRole::Strong, style);
    writeln!(out, "{name}: {}", word.meaning())?;
    for row in ConsequenceTable::built_in().filter(|row| word.has(row)) {
        write_row(row, style, out)?;
    }
    Ok(())
}

fn write_row(row: &Row, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let place: String = row.at.iter().map(|key| format!("/{key}")).collect();
    let changes: Vec<&str> = row.changes.iter().map(|change| change.as_str()).collect();
    let limits = [
        Some(changes.join(", ")).filter(|changes| !changes.is_empty()),
        named("chart", &row.charts),
        named("name", &row.names),
        row.condition
            .as_ref()
            .map(|place| format!("if /{}", place.join("/"))),
        row.armada
            .map(|armada| format!("armada: {}", armada.as_str())),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let head = painted(&format!("{} {place}", row.schema), TextRole::Name, style);
    let limits = if limits.is_empty() {
        String::new()
    } else {
        format!("  ({})", limits.join("; "))
    };
    writeln!(out, "\n{}{limits}", head.trim_end())?;
    let then = row.then.map(|then| format!(", then {}", then.as_str()));
    let cautions: Vec<String> = row
        .cautions
        .iter()
        .map(|caution| format!(" · caution: {}", caution.as_str()))
        .collect();
    let facts = format!(
        "consumer: {} · action: {}{}{}",
        row.consumer,
        row.action.as_str(),
        then.unwrap_or_default(),
        cautions.concat()
    );
    for text in [&row.text, &facts] {
        writeln!(out, "{}", wrap(text, style.columns(), "  ", "    "))?;
    }
    for source in &row.sources {
        let text = format!("  source: {source}");
        writeln!(out, "{}", painted(&text, TextRole::Dim, style))?;
    }
    Ok(())
}

/// Names what a row is limited to.
fn named(what: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
}
