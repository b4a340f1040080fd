//! String form of a specification (`cloud-init.md` 3): `name(option,option)+name()`.

use layercake_source::Spanned;

use super::written::Written;
use super::{Item, Name, Options, Settings, with_underscores};
use crate::merge::cloud_init::{Failure, FailureKind};

/// Parses the parts of the string form, which are separated by plus signs (3).
pub(super) fn items_of_text(text: &Written<'_>, secret: bool) -> Result<Vec<Item>, Failure> {
    let pieces = text
        .split('+')
        .map(Written::stripped)
        .filter(|piece| !piece.text.is_empty());
    pieces
        .map(|piece| {
            item_of_piece(&piece, secret).ok_or_else(|| Failure {
                at: piece.span(),
                secret,
                kind: FailureKind::Format,
            })
        })
        .collect()
}

/// Parses `name(option,option)`; returns `None` if the part has another form.
///
/// Python converts it to lower case, and dashes to underscores. Neither adds or removes
/// parentheses, commas or white space, so the original text can be parsed.
fn item_of_piece(piece: &Written<'_>, secret: bool) -> Option<Item> {
    let open = piece.text.find('(')?;
    let inside = piece.part(open + 1..piece.text.len().checked_sub(1)?)?;
    if !piece.text.ends_with(')') || inside.text.contains('\n') {
        return None;
    }
    let name = piece.part(0..open)?;
    let spelled = as_read(name.text);
    if !is_identifier(&spelled) {
        return None;
    }
    let options = inside
        .split(',')
        .map(Written::stripped)
        .filter(|it| !it.text.is_empty());
    let words = options
        .map(|it| Spanned::new(as_read(it.text).into(), it.span()))
        .collect();
    Some(Item {
        name: Spanned::new(Name::Text(spelled.into()), name.span()),
        options: Options::Usable(Settings::Words {
            words,
            others: Vec::new(),
        }),
        at: piece.span(),
        secret,
    })
}

fn as_read(text: &str) -> String {
    with_underscores(&text.to_lowercase())
}

fn is_identifier(name: &str) -> bool {
    let is_start = |it: char| it.is_ascii_alphabetic() || it == '_';
    name.starts_with(is_start) && name.chars().all(|it| is_start(it) || it.is_ascii_digit())
}
