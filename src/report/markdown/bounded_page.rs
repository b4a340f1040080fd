//! Writer for Markdown blocks with a maximum size: a block is written completely or not at all. Its
//! input is already Markdown; see `text` for escaping.

use super::text::{fence, in_cell};

/// A page with a maximum size in bytes.
pub(super) struct BoundedPage {
    text: String,
    most: usize,
}

/// Error: the page would exceed its maximum size.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageFull;

/// Heading of a table column, with its alignment.
#[derive(Clone, Copy)]
pub(super) enum TableColumn {
    Text(&'static str),
    Number(&'static str),
}

impl BoundedPage {
    pub(super) fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            most,
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn push(&mut self, text: &str) -> Result<(), PageFull> {
        if self.text.len() + text.len() > self.most {
            return Err(PageFull);
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Begins a block, separated from the previous one by an empty line.
    fn begin(&mut self) -> Result<(), PageFull> {
        if self.text.is_empty() {
            Ok(())
        } else {
            self.push("\n")
        }
    }

    pub(super) fn heading(&mut self, depth: usize, text: &str) -> Result<(), PageFull> {
        self.begin()?;
        self.push(&format!("{} {text}\n", "#".repeat(depth)))
    }

    pub(super) fn paragraph(&mut self, text: &str) -> Result<(), PageFull> {
        self.begin()?;
        self.push(text)?;
        self.push("\n")
    }

    /// Writes paragraphs as an alert.
    pub(super) fn alert(&mut self, paragraphs: &[String]) -> Result<(), PageFull> {
        self.begin()?;
        self.push("> [!CAUTION]\n")?;
        for (at, paragraph) in paragraphs.iter().enumerate() {
            let between = if at == 0 { "" } else { ">\n" };
            self.push(&format!("{between}> {paragraph}\n"))?;
        }
        Ok(())
    }

    pub(super) fn list(&mut self, items: impl IntoIterator<Item = String>) -> Result<(), PageFull> {
        self.begin()?;
        items
            .into_iter()
            .try_for_each(|item| self.push(&format!("- {item}\n")))
    }

    pub(super) fn steps(
        &mut self,
        items: impl IntoIterator<Item = String>,
    ) -> Result<(), PageFull> {
        self.begin()?;
        let mut items = items.into_iter().enumerate();
        items.try_for_each(|(at, item)| self.push(&format!("{}. {item}\n", at + 1)))
    }

    /// Writes a table; each row has a cell for each column.
    pub(super) fn table(
        &mut self,
        columns: &[TableColumn],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<(), PageFull> {
        self.begin()?;
        let (heads, rules): (Vec<String>, Vec<String>) = columns
            .iter()
            .map(|column| match column {
                TableColumn::Text(name) => ((*name).to_owned(), "---".to_owned()),
                TableColumn::Number(name) => ((*name).to_owned(), "---:".to_owned()),
            })
            .unzip();
        self.row(&heads)?;
        self.row(&rules)?;
        rows.into_iter().try_for_each(|cells| {
            debug_assert_eq!(cells.len(), columns.len(), "a cell for each column");
            self.row(&cells.iter().map(|cell| in_cell(cell)).collect::<Vec<_>>())
        })
    }

    fn row(&mut self, cells: &[String]) -> Result<(), PageFull> {
        self.push(&format!("| {} |\n", cells.join(" | ")))
    }

    /// Writes a fenced code block.
    pub(super) fn fenced(&mut self, language: &str, lines: &[String]) -> Result<(), PageFull> {
        let fence = fence(lines);
        self.begin()?;
        self.push(&format!("{fence}{language}\n"))?;
        lines
            .iter()
            .try_for_each(|line| self.push(&format!("{line}\n")))?;
        self.push(&format!("{fence}\n"))
    }

    /// Opens a `<details>` element; `summary` must not contain strings of a report.
    pub(super) fn open_details(&mut self, summary: &str) -> Result<(), PageFull> {
        self.begin()?;
        self.push(&format!("<details><summary>{summary}</summary>\n"))
    }

    /// Closes a `<details>` element.
    pub(super) fn close_details(&mut self) -> Result<(), PageFull> {
        self.push("\n</details>\n")
    }
}
