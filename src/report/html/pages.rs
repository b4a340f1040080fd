//! Rule documentation: the page of each rule that has a finding.
//!
//! Rule pages are part of this program and use a subset of Markdown: headings, paragraphs, lists,
//! code. Other syntax is shown literally.

use std::collections::BTreeSet;

use super::escape::{text, words};
use super::{HtmlPage, PageSection, folded};
use crate::report::formats::page as page_of;

impl HtmlPage<'_, '_> {
    /// Renders the pages of all rules with listed findings.
    pub(super) fn rules(&self) -> PageSection {
        let findings = self.story.errors.iter().chain(&self.story.others);
        let names: BTreeSet<&str> = findings.map(|it| &*it.finding.rule).collect();
        let rules: String = names.iter().map(|name| self.rule(name)).collect();
        PageSection {
            id: "rules",
            title: "Rules",
            count: names.len(),
            content: rules,
        }
    }

    fn rule(&self, name: &str) -> String {
        let Some(rule) = self.options.rule(name) else {
            let name = text(name);
            return format!("<p><b>{name}</b>: unknown rule in this version of layercake</p>\n");
        };
        let summary = format!("<code>{}</code> {}", rule.name, words(rule.summary));
        let page = html(&page_of(rule));
        let id = self.id(&format!("rule-{}", rule.name));
        format!("<div{id}>{}</div>\n", folded("rule-page", &summary, &page))
    }
}

/// Renders a page without its title.
fn html(page: &str) -> String {
    let mut html = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut lines = page.lines().skip(1);
    while let Some(line) = lines.next() {
        let about = line.strip_prefix("```");
        let heading = line.strip_prefix("## ");
        if about.is_none() && heading.is_none() && !line.is_empty() {
            paragraph.push(line);
            continue;
        }
        html += &block(&std::mem::take(&mut paragraph));
        html += &heading
            .map(|it| format!("<h3>{}</h3>\n", words(it)))
            .unwrap_or_default();
        if let Some(about) = about {
            let file = about.split_once(' ').map_or(about, |(_, file)| file);
            let lines: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            html += &format!("<p><code>{}</code></p>\n{}", text(file), code(&lines));
        }
    }
    html + &block(&paragraph)
}

/// Renders a block of non-blank lines.
fn block(lines: &[&str]) -> String {
    match lines.first() {
        None => String::new(),
        Some(first) if first.starts_with('|') => code(lines),
        Some(first) if first.starts_with("- ") => {
            // An item continues until the next line that starts with `- `.
            let text = lines.join("\n");
            let items = text
                .trim_start_matches("- ")
                .split("\n- ")
                .map(|item| format!("<li>{}</li>", words(&item.replace('\n', " "))));
            format!("<ul>{}</ul>\n", items.collect::<String>())
        }
        Some(_) => format!("<p>{}</p>\n", words(&lines.join(" "))),
    }
}

fn code(lines: &[&str]) -> String {
    // Each line is wrapped in a `<span>`, since a browser drops a line break at the start of
    // `<pre>`.
    let lines = lines
        .iter()
        .map(|line| format!("<span>{}\n</span>", text(line)));
    format!("<pre class=\"code\">{}</pre>\n", lines.collect::<String>())
}
