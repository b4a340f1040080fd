//! Bytes as a saved report: a report that can be read can be written in every format.

#![no_main]

use layercake::report::model::read;
use layercake_fuzz::forms::in_every_form;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match read(text) {
        Ok(report) => in_every_form(&report),
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
});
