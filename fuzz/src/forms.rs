//! A report in every form there is.

use layercake::report::comparison::{Grouping, Look, Unchanged};
use layercake::report::json::{Report, read, write};
use layercake::report::{Form, Format, Ignored, Listing, Manner, Restored, Style};
use layercake::rules::RULES;

/// Writes a report in every form, each of which is text; as JSON it reads back
/// as itself, and people are told of it at any width.
pub fn in_every_form(report: &Report) {
    let json = text(|out| write(report, out));
    let again = match read(&json) {
        Ok(again) => again,
        Err(fault) => panic!("{fault}: {json}"),
    };
    assert_eq!(text(|out| write(&again, out)), json, "it reads back as itself");
    for format in Format::ALL {
        let Format::Of(form) = format else { continue };
        for (unchanged, ignored) in
            [(Unchanged::Counted, Ignored::Counted), (Unchanged::Shown, Ignored::Shown)]
        {
            let manner = Manner { listing: Listing { unchanged, ignored }, rules: RULES };
            let written = text(|out| form.write(report, &manner, out));
            let of_saved = text(|out| form.write(&again, &manner, out));
            assert_eq!(written, of_saved, "{}", format.name());
            assert!(form == Form::Comment || form == Form::Github || !written.is_empty());
        }
    }
    // What asks for too much text is refused; then there is nothing to tell.
    if let Ok(restored) = Restored::of(&again) {
        to_people(&restored);
    }
}

fn to_people(restored: &Restored) {
    for (width, color) in [(40, false), (100, true)] {
        let style = Style { width, color, unicode: color, links: color };
        let look = Look {
            grouping: Grouping::Alike,
            limit: Look::ON_TERMINAL,
            unchanged: Unchanged::Shown,
        };
        text(|out| restored.write(look, Ignored::Shown, &style, out));
        text(|out| restored.write_concise(look, Ignored::Shown, &style, out));
    }
}

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("reports are text")
}
