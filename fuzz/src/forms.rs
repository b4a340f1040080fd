//! A report in every form there is.

use layercake::report::model::{Report, read, write};
use layercake::report::{
    Detail, FindingFilter, Format, ReportFormat, TerminalOptions, TerminalStyle,
};
use layercake::rules::RULES;

/// Writes a report in every form, each of which is text; as JSON it reads back as itself, and
/// each form of it is that of the one it was.
pub fn in_every_form(report: &Report) {
    let json = text(|out| write(report, out));
    let again = match read(&json) {
        Ok(again) => again,
        Err(fault) => panic!("{fault}: {json}"),
    };
    for format in Format::ALL {
        for (all, width) in [(false, 100), (true, 40)] {
            let look = TerminalOptions {
                listing: FindingFilter { all, ignored: all },
                limit: if all { 0 } else { TerminalOptions::USUAL_LIMIT },
                detail: if all { Detail::Whole } else { Detail::Usual },
            };
            let style = TerminalStyle { width, color: all, unicode: !all, links: all };
            let written = text(|out| format.write(report, (look, &style), RULES, out));
            let of_saved = text(|out| format.write(&again, (look, &style), RULES, out));
            assert_eq!(written, of_saved, "{}", format.name());
            assert!(format == Format::Of(ReportFormat::Github) || !written.is_empty());
        }
    }
}

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("reports are text")
}
