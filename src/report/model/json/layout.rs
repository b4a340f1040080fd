//! JSON layout of reports: one line for each entry of a top-level list, so that a report can be
//! searched by line and stays small.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Formatter that puts each entry of the top-level lists on its own line.
#[derive(Default)]
pub(super) struct EntryPerLine {
    depth: usize,
    has_entries: bool,
}

impl EntryPerLine {
    /// Nesting depth at which collections are no longer broken into lines.
    const BROKEN_DEPTH: usize = 2;

    fn begin<W: ?Sized + Write>(&mut self, bracket: &[u8], out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_entries = false;
        out.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, bracket: &[u8], out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_entries && self.depth < Self::BROKEN_DEPTH {
            self.break_line(out)?;
        }
        self.has_entries = true;
        out.write_all(bracket)
    }

    fn entry<W: ?Sized + Write>(&mut self, is_first: bool, out: &mut W) -> io::Result<()> {
        self.has_entries = true;
        match (is_first, self.depth <= Self::BROKEN_DEPTH) {
            (true, true) => self.break_line(out),
            (true, false) => Ok(()),
            (false, true) => {
                out.write_all(b",")?;
                self.break_line(out)
            }
            (false, false) => out.write_all(b", "),
        }
    }

    fn break_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        const INDENTS: [&[u8]; 3] = [b"\n", b"\n  ", b"\n    "];
        out.write_all(INDENTS[self.depth])
    }
}

impl Formatter for EntryPerLine {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(b"[", out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(b"]", out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.entry(first, out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(b"{", out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(b"}", out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.entry(first, out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
