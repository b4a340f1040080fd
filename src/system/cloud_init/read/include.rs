//! `#include`: texts from elsewhere, one per line (`user_data.py`, `_do_include`).

use std::ops::Range;

use super::{Included, UnreadPart, UserDataReader, sniff};
use crate::source::{Span, offset};
use crate::system::cloud_init::part::{
    Carrier, ContainerFault, PartFault, PartFaultKind, PartLimit,
};

impl UserDataReader<'_> {
    /// Reads the texts that a part includes, in order, each with its own includes.
    ///
    /// # Errors
    /// A fault that makes cloud-init discard all user-data.
    pub(super) fn include(&mut self, piece: UnreadPart) -> Result<(), PartFault> {
        let (text, _) = self.carried(piece, Carrier::Include);
        let places = places(self.sources.slice(text));
        for place in places {
            let start = text.start + offset(place.start);
            self.included(Span::new(text.file, start, start + offset(place.len())))?;
        }
        Ok(())
    }

    fn included(&mut self, at: Span) -> Result<(), PartFault> {
        let Some(path) = local_path(self.sources.slice(at)).map(str::to_owned) else {
            self.fault(at, PartFaultKind::RemoteInclude);
            return Ok(());
        };
        self.includes += 1;
        if self.includes > PartLimit::INCLUDES || self.open.len() > PartLimit::NESTING {
            return Err(PartFault {
                at,
                kind: PartFaultKind::OverLimit(PartLimit::Includes),
            });
        }
        let from = self
            .sources
            .get(self.sources.written(at).file)
            .path()
            .clone();
        match (self.include)(self.sources, &from, &path) {
            Included::Missing => Err(PartFault {
                at,
                kind: ContainerFault::MissingInclude.into(),
            }),
            Included::File(file) if self.open.contains(&file) => Err(PartFault {
                at,
                kind: ContainerFault::IncludeCycle.into(),
            }),
            Included::File(file) => {
                self.spend(at, self.sources.get(file).text().len())?;
                self.file(file, at)
            }
        }
    }
}

/// Path in a URL: the URL itself, or the text after `file://`. `None` for other schemes.
fn local_path(url: &str) -> Option<&str> {
    const FILE: &str = "file://";
    match url.get(..FILE.len()) {
        Some(start) if start.eq_ignore_ascii_case(FILE) => Some(&url[FILE.len()..]),
        _ => (!url.contains("://")).then_some(url),
    }
}

/// Ranges of the URLs in a text: one per line, including the lines of the markers; other lines that
/// begin with `#` are comments.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(ends_line) {
        let url = url_of(line.trim_end_matches(ends_line));
        if !url.is_empty() {
            let at = url.as_ptr().addr() - line.as_ptr().addr();
            places.push(start + at..start + at + url.len());
        }
        start += line.len();
    }
    places
}

fn url_of(line: &str) -> &str {
    let marker = ["#include-once", "#include"].into_iter().find(|marker| {
        line.get(..marker.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(marker))
    });
    let rest = marker.map_or(line, |marker| sniff::trim_start(&line[marker.len()..]));
    if rest.starts_with('#') {
        ""
    } else {
        sniff::trim(rest)
    }
}

/// `str.splitlines`.
fn ends_line(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
