//! Reads a page like GitHub's Markdown parser, with more extensions enabled, and checks that it is
//! complete and contains only intended markup.

use std::fmt::Write as _;

use comrak::nodes::{Node, NodeValue};
use comrak::{Arena, Options, parse_document};

/// Content of a page, in document order.
#[derive(Debug, Default)]
pub struct Page {
    /// Text of headings.
    pub headings: Vec<String>,
    /// Tables: text of the cells by row, headings first.
    pub tables: Vec<Vec<Vec<String>>>,
    /// Text of paragraphs and list items, including those in alerts.
    pub paragraphs: Vec<String>,
    /// Code blocks.
    pub blocks: Vec<String>,
    /// Summaries of folded sections.
    pub folded: Vec<String>,
    /// Targets of links.
    pub links: Vec<String>,
}

/// Reads a page.
///
/// # Panics
/// If the page is incomplete or contains elements that pages do not use.
#[track_caller]
pub fn read(markdown: &str) -> Page {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options());
    let mut reader = Reader {
        markdown: markdown.lines().collect(),
        page: Page::default(),
        open: 0,
    };
    for node in root.children() {
        reader.block(node);
    }
    assert_eq!(reader.open, 0, "every folded section is closed");
    let last = reader
        .page
        .paragraphs
        .last()
        .expect("a page has a last line");
    assert!(
        last.starts_with("layercake "),
        "the end of the page is open: {last}"
    );
    reader.page
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.superscript = true;
    extension.footnotes = true;
    extension.alerts = true;
    extension.math_dollars = true;
    extension.math_code = true;
    extension.spoiler = true;
    options
}

struct Reader<'t> {
    markdown: Vec<&'t str>,
    page: Page,
    open: usize,
}

impl Reader<'_> {
    fn block(&mut self, node: Node<'_>) {
        match &node.data().value {
            NodeValue::Heading(heading) => {
                assert!(!heading.setext, "foreign text became a heading");
                let text = self.inline(node);
                self.page.headings.push(text);
            }
            NodeValue::Paragraph => {
                let text = self.inline(node);
                self.page.paragraphs.push(text);
            }
            NodeValue::Table(_) => self.table(node),
            NodeValue::CodeBlock(block) => {
                assert!(
                    block.fenced && block.closed && block.info == "diff",
                    "{block:?}"
                );
                self.page.blocks.push(block.literal.clone());
            }
            NodeValue::HtmlBlock(html) => self.html(&html.literal),
            NodeValue::Alert(alert) => {
                assert_eq!(alert.title, None);
                node.children().for_each(|it| self.block(it));
            }
            NodeValue::List(_) | NodeValue::Item(_) => {
                node.children().for_each(|it| self.block(it));
            }
            other => panic!("unexpected block {other:?}"),
        }
    }

    fn html(&mut self, html: &str) {
        match html.trim() {
            "</details>" => {
                self.open = self
                    .open
                    .checked_sub(1)
                    .expect("the closed section is open");
            }
            open => {
                let summary = open.strip_prefix("<details><summary>");
                let summary = summary.and_then(|it| it.strip_suffix("</summary>"));
                let summary = summary.unwrap_or_else(|| panic!("unexpected HTML {html}"));
                assert!(
                    summary
                        .chars()
                        .all(|it| it.is_ascii_alphanumeric() || " ,:".contains(it))
                );
                self.page.folded.push(summary.to_owned());
                self.open += 1;
            }
        }
    }

    fn table(&mut self, node: Node<'_>) {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in node.children() {
            let cells: Vec<String> = row.children().map(|it| self.inline(it)).collect();
            // The parser repairs incomplete rows, so the source is checked.
            let line = self.markdown[row.data().sourcepos.start.line - 1];
            let pipes = line.replace("\\|", "").matches('|').count();
            assert_eq!(pipes, cells.len() + 1, "{line}");
            assert!(line.starts_with("| ") && line.ends_with(" |"), "{line}");
            rows.push(cells);
        }
        assert!(rows.len() > 1, "a table has a row");
        self.page.tables.push(rows);
    }

    /// Text of a block, including code.
    fn inline(&mut self, node: Node<'_>) -> String {
        let (mut text, mut quiet) = (String::new(), String::new());
        for child in node.children() {
            let child_text = self.piece(child, &mut quiet);
            text += &child_text;
        }
        assert_quiet(&quiet);
        text
    }

    /// Handles a part of a line; text that is not code is added to `quiet`.
    fn piece(&mut self, node: Node<'_>, quiet: &mut String) -> String {
        match &node.data().value {
            NodeValue::Text(text) => {
                quiet.push_str(text);
                text.to_string()
            }
            NodeValue::Code(code) => {
                quiet.push('\0');
                code.literal.clone()
            }
            NodeValue::Link(link) => {
                assert!(link.title.is_empty());
                self.page.links.push(link.url.clone());
                node.children().map(|it| self.piece(it, quiet)).collect()
            }
            NodeValue::Strong => node.children().map(|it| self.piece(it, quiet)).collect(),
            NodeValue::HtmlInline(html) => match html.as_str() {
                "<sub>" | "</sub>" => String::new(),
                "<br>" => "\n".to_owned(),
                _ => panic!("unexpected HTML {html}"),
            },
            other => panic!("unexpected inline {other:?}"),
        }
    }
}

/// Asserts that a host ignores the text: it notifies no user and links nothing.
#[track_caller]
fn assert_quiet(text: &str) {
    let mut found = String::new();
    for sign in ["@", "#", "://", "www.", "$", "GH-", "gh-", "<", "~~"] {
        if text.contains(sign) {
            write!(found, " {sign}").unwrap();
        }
    }
    let is_commit = |it: &str| it.len() > 6 && it.bytes().all(|it| it.is_ascii_hexdigit());
    if text
        .split(|it: char| !it.is_ascii_alphanumeric())
        .any(is_commit)
    {
        found += " a commit";
    }
    for word in text.split_whitespace() {
        if word.trim_end_matches(':').contains(':') {
            found += " a sign between colons";
        }
    }
    assert!(found.is_empty(), "{text:?} has{found}");
}
