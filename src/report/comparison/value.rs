//! Values as a few lines: enough to see what became what.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::printable::clean;
use crate::report::signs::Signs;
use crate::yaml::emit::{self, HIDDEN, to_yaml};
use crate::yaml::path::{Piece, children};
use crate::yaml::{Node, Value};

/// So many lines of a value are shown.
const FEW: usize = 4;

/// Both sides of a change.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// What is to be known before.
    pub(super) note: Option<String>,
    /// What was there.
    pub(super) base: Vec<String>,
    /// What is there now.
    pub(super) head: Vec<String>,
}

impl Lines {
    /// Texts as they stand, one line each.
    pub(super) fn plain([base, head]: [Option<String>; 2]) -> Self {
        Self { note: None, base: base.into_iter().collect(), head: head.into_iter().collect() }
    }

    /// The values of both sides in lines of at most `room` columns; nothing of
    /// them where one of them is secret.
    pub(super) fn of(
        sides: [Option<&Node>; 2],
        is_secret: bool,
        room: usize,
        signs: &Signs,
    ) -> Self {
        if is_secret {
            return Self::plain(sides.map(|side| side.map(|_| HIDDEN.to_owned())));
        }
        let lines = match sides.map(|side| side.and_then(Node::as_str)) {
            [Some(base), Some(head)] if base.contains('\n') || head.contains('\n') => {
                Self::between(base, head)
            }
            [_, _] => {
                let [base, head] = sides.map(|side| side.map(shown).unwrap_or_default());
                Self { note: None, base, head }
            }
        };
        lines.fitted(room, signs)
    }

    /// What differs between two texts of several lines.
    fn between(base: &str, head: &str) -> Self {
        let (below, above): (Vec<&str>, Vec<&str>) =
            (base.lines().collect(), head.lines().collect());
        let front = below.iter().zip(&above).take_while(|(left, right)| left == right).count();
        let (below, above) = (&below[front..], &above[front..]);
        let ends = below.iter().rev().zip(above.iter().rev());
        let back = ends.take_while(|(left, right)| left == right).count();
        let (below, above) = (&below[..below.len() - back], &above[..above.len() - back]);
        let total = head.lines().count();
        let note = match (below, above) {
            ([], []) => Some("other line breaks at the end".to_owned()),
            _ => Some(format!("from line {} of {total}:", front + 1)),
        };
        Self { note, base: first_lines(below), head: first_lines(above) }
    }

    fn fitted(mut self, room: usize, signs: &Signs) -> Self {
        let focus = match (&self.base[..], &self.head[..]) {
            ([base], [head]) => {
                base.chars().zip(head.chars()).take_while(|(left, right)| left == right).count()
            }
            (_, _) => 0,
        };
        for line in self.base.iter_mut().chain(&mut self.head) {
            *line = cut(line, focus, room, signs.dots);
        }
        self
    }
}

fn first_lines(lines: &[&str]) -> Vec<String> {
    let shown = if lines.len() > FEW { FEW - 1 } else { lines.len() };
    let mut text: Vec<String> = lines[..shown].iter().map(|it| clean(it).into_owned()).collect();
    if lines.len() > shown {
        text.push(format!("(and {} more lines)", lines.len() - shown));
    }
    text
}

/// One value: as YAML where that is short, counted where it is not.
fn shown(node: &Node) -> Vec<String> {
    if node.secret {
        return vec![HIDDEN.to_owned()];
    }
    match &node.value {
        Value::String(text) if text.contains('\n') => {
            first_lines(&text.lines().collect::<Vec<_>>())
        }
        Value::Mapping(entries) if !is_small(node) => vec![summary('{', entries.len(), "key", '}')],
        Value::Sequence(items) if !is_small(node) => vec![summary('[', items.len(), "item", ']')],
        Value::Pairs(pairs) => vec![summary('[', pairs.len(), "pair", ']')],
        Value::Set(keys) => vec![summary('{', keys.len(), "member", '}')],
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::String(_)
        | Value::Mapping(_)
        | Value::Sequence(_) => {
            let yaml = to_yaml(node, &emit::Options { show_secrets: false, origin: None });
            yaml.lines().map(|line| clean(line).into_owned()).collect()
        }
    }
}

fn summary(open: char, count: usize, what: &str, close: char) -> String {
    format!("{open}{}{close}", crate::report::counted(count, what))
}

/// Whether a collection is a few lines of YAML.
fn is_small(node: &Node) -> bool {
    lines_of(node, FEW) <= FEW
}

/// How many lines of YAML a value takes; counting ends where there are more
/// than `most`.
fn lines_of(node: &Node, most: usize) -> usize {
    let is_block = node.as_str().is_some_and(|text| text.contains('\n'));
    if node.secret || (children(node).next().is_none() && !is_block) {
        return 1;
    }
    let mut lines = if is_block { most + 1 } else { 0 };
    for (piece, child) in children(node) {
        let inside = lines_of(child, most);
        let is_nested = !child.secret && children(child).next().is_some();
        lines += match piece {
            Piece::Key(_) => inside + usize::from(is_nested),
            Piece::Index(_) => inside,
        };
        if lines > most {
            break;
        }
    }
    lines
}

/// `text` in at most `room` columns, with the character `focus` among them.
fn cut(text: &str, focus: usize, room: usize, dots: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let widths: Vec<usize> = text.chars().map(|it| it.width().unwrap_or(0)).collect();
    let start = first_shown(&widths, focus, room, dots.width());
    let mut line = if start > 0 { dots.to_owned() } else { String::new() };
    let mut left = room.saturating_sub(line.width());
    let fits = widths[start..].iter().sum::<usize>() <= left;
    if !fits {
        left = left.saturating_sub(dots.width());
    }
    for (character, width) in text.chars().zip(&widths).skip(start) {
        if *width > left {
            break;
        }
        left -= width;
        line.push(character);
    }
    if !fits {
        line.push_str(dots);
    }
    line
}

/// Where a line too wide is cut in front: at most so far in that a third of
/// the room is left before what matters, and none of it is empty.
fn first_shown(widths: &[usize], focus: usize, room: usize, dots: usize) -> usize {
    let mut before: usize = widths[..focus.min(widths.len())].iter().sum();
    let mut all: usize = widths.iter().sum();
    let mut start = 0;
    while before > room / 3 && all + dots > room {
        before = before.saturating_sub(widths[start]);
        all -= widths[start];
        start += 1;
    }
    // What the dots would take the place of may as well be shown.
    if start <= dots { 0 } else { start }
}
