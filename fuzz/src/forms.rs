//! A report in every format.

use layercake::report::model::{Report, read, write};
use layercake::report::{
    Detail, FindingFilter, Format, ReportFormat, TerminalOptions, TerminalStyle,
};
use layercake::rules::RULES;

/// Writes a report in every format, each of which must be UTF-8. The JSON must read back as a
/// report that gives the same output in every format.
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
                limit: if all {
                    0
                } else {
                    TerminalOptions::DEFAULT_LIMIT
                },
                detail: if all { Detail::Whole } else { Detail::Usual },
            };
            let style = TerminalStyle {
                width,
                color: all,
                unicode: !all,
                links: all,
            };
            let written = text(|out| format.write(report, (look, &style), RULES, out));
            let of_saved = text(|out| format.write(&again, (look, &style), RULES, out));
            assert_eq!(written, of_saved, "{}", format.name());
            assert!(format == Format::Of(ReportFormat::Github) || !written.is_empty());
        }
    }
}

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("writing to memory succeeds");
    String::from_utf8(out).expect("reports are UTF-8")
}
