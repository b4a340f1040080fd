//! What rules say of themselves: the page of each rule that has a finding.
//!
//! The pages are ours, and use little of Markdown: headings, paragraphs,
//! lists, code. What is none of these is shown as it stands.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::Page;
use super::escape::text;
use crate::diagnostic::Rule;
use crate::report::formats::page as page_of;

/// Writes the pages of all rules with findings that are listed.
pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let names: BTreeSet<&str> = page.findings.iter().map(|it| &*it.rule).collect();
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"rules\" aria-labelledby=\"rules-title\">")?;
    writeln!(out, "<h2 id=\"rules-title\">Rules</h2>")?;
    for name in names {
        match page.manner.rule(name) {
            Some(rule) => write_rule(rule, out)?,
            None => writeln!(
                out,
                "<p><b>{}</b>: this version of layercake has no such rule</p>",
                text(name)
            )?,
        }
    }
    writeln!(out, "</section>")
}

fn write_rule(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let (name, summary) = (rule.name, text(rule.summary));
    writeln!(out, "<details class=\"rule-page\" id=\"rule-{name}\">")?;
    writeln!(out, "<summary><b>{name}</b> {summary}</summary>")?;
    let page = page_of(rule);
    for block in blocks(&page) {
        write_block(&block, out)?;
    }
    writeln!(out, "</details>")
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum Block<'a> {
    Heading(&'a str),
    /// Words, on as many lines as they were written on.
    Paragraph(Vec<&'a str>),
    /// Code, and what is said of it: its language, and its file.
    Code(&'a str, Vec<&'a str>),
}

fn write_block(block: &Block<'_>, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Heading(words) => writeln!(out, "<h3>{}</h3>", inline(words)),
        Block::Paragraph(lines) if lines[0].starts_with("- ") => {
            writeln!(out, "<ul>{}</ul>", items(lines))
        }
        Block::Paragraph(lines) if lines[0].starts_with('|') => write_code(lines, out),
        Block::Paragraph(lines) => writeln!(out, "<p>{}</p>", inline(&lines.join(" "))),
        Block::Code(about, lines) => {
            let about = about.split_once(' ').map_or(*about, |(_, file)| file);
            writeln!(out, "<figure><figcaption>{}</figcaption>", text(about))?;
            write_code(lines, out)?;
            writeln!(out, "</figure>")
        }
    }
}

fn write_code(lines: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<pre class=\"code\">")?;
    for line in lines {
        // Not a bare line, since a browser drops a break at the very beginning.
        writeln!(out, "<span>{}</span>", text(line))?;
    }
    writeln!(out, "</pre>")
}

/// The blocks of a page, but for its title.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().filter(|line| !line.starts_with("# ")).peekable();
    let mut words: Vec<&str> = Vec::new();
    while let Some(line) = lines.next() {
        let is_end = line.is_empty() || line.starts_with("```") || line.starts_with('#');
        if is_end && !words.is_empty() {
            blocks.push(Block::Paragraph(std::mem::take(&mut words)));
        }
        if let Some(about) = line.strip_prefix("```") {
            blocks.push(Block::Code(about, lines.by_ref().take_while(|it| *it != "```").collect()));
        } else if line.starts_with('#') {
            blocks.push(Block::Heading(line.trim_start_matches('#').trim()));
        } else if !line.is_empty() {
            words.push(line);
        }
    }
    if !words.is_empty() {
        blocks.push(Block::Paragraph(words));
    }
    blocks
}

/// The items of a list, each with the lines that go on with it.
fn items(lines: &[&str]) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(last)) => last.push_str(&format!(" {}", line.trim_start())),
            (None, None) => items.push((*line).to_owned()),
        }
    }
    items.iter().map(|item| format!("<li>{}</li>", inline(item))).collect()
}

/// Words with code in backticks.
fn inline(words: &str) -> String {
    let mut html = String::new();
    for (at, part) in words.split('`').enumerate() {
        match at % 2 {
            0 => html.push_str(&text(part).to_string()),
            _ => html.push_str(&format!("<code>{}</code>", text(part))),
        }
    }
    html
}
