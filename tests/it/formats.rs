//! Report formats, each read by a parser for it, and what all of them have in common.

mod counts;
mod github;
mod gitlab;
mod hostile;
mod html;
mod junit;
mod limits;
pub mod made;
mod markdown;
mod readers;
mod repositories;
mod rule_pages;
mod sarif;
mod saved;
mod stable;

use std::collections::BTreeMap;

use layercake::report::Format;

use crate::cli::{Ran, Sandbox, without_timing};

/// Reports of one run by format, and how the run ended.
fn written(sandbox: &Sandbox, arguments: &[&str]) -> (Ran, BTreeMap<&'static str, String>) {
    written_with(sandbox, arguments, |command| command)
}

/// Like [`written`], with a program that is started differently.
fn written_with(
    sandbox: &Sandbox,
    arguments: &[&str],
    start: impl Fn(&mut std::process::Command) -> &mut std::process::Command,
) -> (Ran, BTreeMap<&'static str, String>) {
    let folder = sandbox.beside("written");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |format: Format| folder.join(format.name());
    let flags: Vec<String> = Format::ALL
        .iter()
        .map(|format| format!("--output={}={}", format.name(), file(*format).display()))
        .collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let output = start(&mut sandbox.command(&[arguments, &flags].concat()))
        .output()
        .unwrap();
    let ran = Ran::of(&output);
    assert!(ran.code < 2, "{arguments:?}: {ran:?}");
    let text = |format: Format| std::fs::read_to_string(file(format)).unwrap();
    (
        ran,
        Format::ALL
            .iter()
            .map(|format| (format.name(), text(*format)))
            .collect(),
    )
}

/// A report in any format, as if the run had taken no time.
fn timeless(format: &str, text: &str) -> String {
    match format {
        "full" => text.lines().map(without_time).collect(),
        _ => without_timing(text),
    }
}

/// A line of figures without the last one, if that is a time.
fn without_time(line: &str) -> String {
    match line.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with('s') && time.contains('.') => format!("{before}\n"),
        Some(_) | None => format!("{line}\n"),
    }
}
