//! Rule page for a terminal: Markdown, wrapped to the terminal's width.

use std::io::{self, Write};

use super::formats::page;
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, wrap};
use crate::diagnostic::Rule;

/// Writes the page of a rule: name, level and summary, then the text.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(rule: &Rule, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let text = page(rule);
    let (_, text) = text.split_once('\n').unwrap_or((&text, ""));
    writeln!(out, "{}", painted(rule.name, TextRole::Strong, style))?;
    let summary = format!("{}: {}", rule.level().as_str(), rule.summary);
    writeln!(out, "{}", wrap(&summary, style.columns(), "", ""))?;
    let mut page = RulePage {
        style,
        paragraph: String::new(),
    };
    let mut is_code = false;
    for line in without_comments(text).lines() {
        match line.strip_prefix("```") {
            Some(name) => {
                page.write_paragraph(out)?;
                is_code = !is_code;
                let name = name.split_once(' ').map_or("", |(_, name)| name);
                if is_code && !name.is_empty() {
                    writeln!(out, "    {}", painted(&clean(name), TextRole::Dim, style))?;
                }
            }
            None if is_code => writeln!(out, "    {}", clean(line))?,
            None => page.write_line(line, out)?,
        }
    }
    page.write_paragraph(out)
}

/// State while writing a page.
struct RulePage<'a> {
    style: &'a TerminalStyle,
    /// Lines of the current paragraph so far.
    paragraph: String,
}

impl RulePage<'_> {
    fn write_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let heading = line.trim_start_matches('#');
        match line {
            "" => {
                self.write_paragraph(out)?;
                writeln!(out)
            }
            _ if heading.len() < line.len() => {
                self.write_paragraph(out)?;
                writeln!(
                    out,
                    "{}",
                    painted(&clean(heading.trim()), TextRole::Strong, self.style)
                )
            }
            _ if line.starts_with("- ") || line.starts_with('|') => {
                self.write_paragraph(out)?;
                line.clone_into(&mut self.paragraph);
                if line.starts_with('|') {
                    self.write_paragraph(out)
                } else {
                    Ok(())
                }
            }
            _ => {
                let space = if self.paragraph.is_empty() { "" } else { " " };
                self.paragraph += space;
                self.paragraph += line.trim();
                Ok(())
            }
        }
    }

    fn write_paragraph(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let text = std::mem::take(&mut self.paragraph);
        if text.is_empty() {
            return Ok(());
        }
        let rest = if text.starts_with("- ") { "  " } else { "" };
        let text = self.inline(&clean(&text));
        writeln!(out, "{}", wrap(&text, self.style.columns(), "", rest))
    }

    /// Renders inline Markdown: text in backticks is a name, emphasis is removed.
    fn inline(&self, text: &str) -> String {
        let text = text.replace("**", "");
        let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
            0 => part.to_owned(),
            _ => part
                .split(' ')
                .map(|word| painted(word, TextRole::Name, self.style))
                .collect::<Vec<_>>()
                .join(" "),
        });
        if self.style.color {
            parts.collect()
        } else {
            text.clone()
        }
    }
}

/// Removes HTML comments, which are directives for the page's test.
fn without_comments(page: &str) -> String {
    let mut parts = page.split("<!--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once("-->").map_or("", |(_, after)| after);
        // Remove the whole line of a comment that has its own line.
        let after = if text.ends_with('\n') {
            after.trim_start_matches('\n')
        } else {
            after
        };
        text.push_str(after);
    }
    text
}
