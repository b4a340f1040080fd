//! Human-readable log: each commit with its reach.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::change::ShownChange;
use super::{CommitEffect, CommitReach, LogEnd};
use crate::compare::Status;
use crate::report::answer::blame::{describe_commit, short_id};
use crate::report::cut::{cut, cut_sides};
use crate::report::printable::clean;
use crate::report::signs::Signs;
use crate::report::story::ShortDelta;
use crate::report::terminal::painted;
use crate::report::text::{StyledText, TextRole};
use crate::report::{TerminalStyle, counted, wrap};

/// Maximum number of outputs listed for a commit.
const MAX_OUTPUTS: usize = 3;

const INDENT: &str = "    ";

/// Writes the note that follows the commits.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_end(commits: usize, end: LogEnd, out: &mut dyn Write) -> io::Result<()> {
    match end.note() {
        Some(note) => writeln!(out, "\n{note}"),
        None if commits == 0 => writeln!(out, "no commit changed a matching output"),
        None => Ok(()),
    }
}

/// Writes a commit for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_commit(
    effect: &CommitEffect,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let role = if effect.is_effective() {
        TextRole::Warning
    } else {
        TextRole::Dim
    };
    let id = painted(short_id(&effect.commit.id), role, style);
    let line = format!("{id}  {}", describe_commit(&effect.commit));
    writeln!(out, "{}", wrap(&line, style.columns(), "", "    "))?;
    let (signs, mut lines) = (Signs::of(style), Vec::new());
    if effect.is_effective() {
        lines.push(describe_reach(effect.reach()));
        let dangers = effect.dangers().join(signs.between);
        if !dangers.is_empty() {
            lines.push(painted(&dangers, TextRole::Warning, style));
        }
        lines.push(list_outputs(effect, &signs));
        lines.extend(describe_sites(effect));
    } else if effect.commit.is_cut {
        lines.push("not compared: its parent is missing from this shallow clone".to_owned());
    } else if effect.unusable.is_empty() {
        lines.push(painted("no output changed", TextRole::Dim, style));
    }
    for unusable in &effect.unusable {
        lines.push(format!("{} cannot be rendered here", clean(&unusable.site)));
    }
    for line in lines {
        writeln!(out, "{}", wrap(&line, style.columns(), INDENT, "      "))?;
    }
    let Some(line) = change_line(effect, style.columns() - INDENT.len(), &signs) else {
        return Ok(());
    };
    let pieces = line
        .pieces
        .iter()
        .map(|piece| painted(&piece.text, piece.role, style));
    writeln!(out, "{INDENT}{}", pieces.collect::<String>())
}

/// Describes the number of outputs and sites.
pub(super) fn describe_reach(reach: CommitReach) -> String {
    let CommitReach {
        outputs,
        sites,
        untouched,
        ..
    } = reach;
    let untouched = match untouched {
        0 => String::new(),
        untouched => format!(", {untouched} of them in untouched files"),
    };
    format!(
        "{} in {}{untouched}",
        counted(outputs, "output"),
        counted(sites, "site")
    )
}

/// Lists the first outputs, ordered by number of sites.
fn list_outputs(effect: &CommitEffect, signs: &Signs) -> String {
    let mut names: Vec<((&str, &str), usize)> = effect.documents().into_iter().collect();
    names.sort_by_key(|(_, sites)| Reverse(*sites));
    let shown = names
        .iter()
        .take(MAX_OUTPUTS)
        .map(|((_, name), _)| clean(name).into_owned());
    let mut words: Vec<String> = shown.collect();
    if names.len() > MAX_OUTPUTS {
        words.push(format!("{} {} more", signs.dots, names.len() - MAX_OUTPUTS));
    }
    words.join(", ")
}

/// Returns the shown change in at most `room` columns, with the name of its document if the commit
/// changed several.
pub(super) fn change_line(effect: &CommitEffect, room: usize, signs: &Signs) -> Option<StyledText> {
    let (_, output, ShownChange { path, values, .. }) = effect.change()?;
    let has_name = effect.documents().len() > 1;
    let place = [
        if has_name {
            clean(&output.document.name)
        } else {
            "".into()
        },
        clean(path),
    ];
    let room = room.saturating_sub(COLON.width());
    Some(match values {
        ShortDelta::Sides([base, head]) => {
            let (base, head) = (clean(base), clean(head));
            let room = room.saturating_sub(signs.arrow.width() + 2);
            let least = (base.width() + head.width()).min(room / 2);
            let place = fit_place(&place, room.saturating_sub(least), signs.dots);
            let room = room.saturating_sub(place.width());
            let sides = cut_sides([&base, &head], room, signs.dots);
            with_place(place, StyledText::sides(sides, signs.arrow))
        }
        ShortDelta::Only(sign, text) => {
            let (text, sign, role) = (clean(text), sign.mark().trim_start(), sign.role());
            let room = room.saturating_sub(sign.width());
            let least = text.width().min(MIN_SUMMARY_COLUMNS);
            let place = fit_place(&place, room.saturating_sub(least), signs.dots);
            let text = cut(&text, 0, room.saturating_sub(place.width()), signs.dots);
            StyledText::plain(sign).join(with_place(place, StyledText::of(role, text)))
        }
    })
}

const COLON: &str = ": ";

/// Minimum number of columns for a summary beside a long path.
const MIN_SUMMARY_COLUMNS: usize = 24;

fn with_place(place: String, values: StyledText) -> StyledText {
    StyledText::name(place).and(COLON).join(values)
}

/// Returns the name of a document and a path in it, in at most `room` columns. The end of a path
/// says most; a name is omitted if it leaves the path too little room.
fn fit_place([name, path]: &[Cow<'_, str>; 2], room: usize, dots: &str) -> String {
    let fits = name.width() + 1 + path.width() <= room;
    if name.is_empty() || (!fits && name.width() > room / 2) {
        return cut(path, usize::MAX, room, dots);
    }
    let path = cut(
        path,
        usize::MAX,
        room.saturating_sub(name.width() + 1),
        dots,
    );
    format!("{name} {path}")
}

/// Describes added, removed and renamed sites.
fn describe_sites(effect: &CommitEffect) -> Vec<String> {
    let mut words = Vec::new();
    for site in &effect.sites {
        let name = clean(&site.site);
        let all = |status: Status| site.outputs.iter().all(|output| output.status == status);
        if let Some(before) = &site.renamed_from {
            words.push(format!("site `{}` was renamed to `{name}`", clean(before)));
        } else if all(Status::Added) && site.outputs.len() > 1 {
            words.push(format!("all outputs of {name} were added"));
        } else if all(Status::Removed) && site.outputs.len() > 1 {
            words.push(format!("all outputs of {name} were removed"));
        }
        if !site.passed_over.is_empty() {
            let ids: Vec<&str> = site.passed_over.iter().map(|id| short_id(id)).collect();
            let ids = ids.join(", ");
            words.push(format!("{name}: or in {ids}, which cannot be rendered"));
        }
    }
    words
}
