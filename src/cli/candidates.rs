//! Candidates for the values of arguments, which shells complete.
//!
//! Shells insert a candidate unchanged into the command line. Names of sites, references and files
//! may come from a pull request, so only those are offered that every shell reads as one word.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use layercake::check::RunControl;
use layercake::commands::{self, Selection};
use layercake::deployment::Caution;
use layercake::report::Format;
use layercake::rules::{GROUPS, RULES};
use layercake::source::Repository;

/// Names of rules and groups.
pub(super) fn rules() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let rules = RULES.iter().map(|rule| (rule.name, rule.summary));
        let candidate = |(name, help): (&str, &str)| {
            CompletionCandidate::new(name).help(Some(help.to_owned().into()))
        };
        rules.chain(GROUPS.iter().copied()).map(candidate).collect()
    })
}

/// Levels and cautions that fail a run.
pub(super) fn failures() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let levels = ["error", "warning", "note", "never"].map(CompletionCandidate::new);
        let cautions = Caution::ALL.iter().map(|caution| {
            CompletionCandidate::new(format!("caution:{}", caution.as_str()))
                .help(Some(caution.meaning().into()))
        });
        levels.into_iter().chain(cautions).collect()
    })
}

/// Report formats.
pub(super) fn formats() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        Format::ALL
            .iter()
            .map(|format| CompletionCandidate::new(format.name()))
            .collect()
    })
}

/// Formats of `cloud-config`: those of merged parts, and those of reports.
pub(super) fn merged_formats() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let reports = Format::ALL.iter().map(|format| format.name());
        ["yaml"]
            .into_iter()
            .chain(reports)
            .map(CompletionCandidate::new)
            .collect()
    })
}

/// Names of sites.
pub(super) fn sites() -> ArgValueCandidates {
    ArgValueCandidates::new(site_names)
}

fn site_names() -> Vec<CompletionCandidate> {
    let listed = commands::sites::run(&Selection::of(directory()), &RunControl::before_exit());
    let rows = listed.map(|listed| listed.rows).unwrap_or_default();
    let names = rows.iter().filter_map(|row| row.site.as_deref());
    names
        .filter(|name| is_word(name))
        .map(CompletionCandidate::new)
        .collect()
}

/// Branches and tags, and `HEAD`.
pub(super) fn revisions() -> ArgValueCandidates {
    ArgValueCandidates::new(revision_names)
}

/// Revisions, `worktree` and `index`.
pub(super) fn sides() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let others = ["worktree", "index"].map(CompletionCandidate::new);
        others.into_iter().chain(revision_names()).collect()
    })
}

fn revision_names() -> Vec<CompletionCandidate> {
    let repository = Repository::discover(&directory()).ok().flatten();
    let names = repository
        .map(|repository| repository.reference_names())
        .unwrap_or_default();
    let names = names
        .into_iter()
        .filter(|name| is_word(name))
        .map(CompletionCandidate::new);
    [CompletionCandidate::new("HEAD")]
        .into_iter()
        .chain(names)
        .collect()
}

/// Paths on disk.
pub(super) fn paths() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut paths = PathCompleter::any().complete(typed);
        paths.retain(|path| path.get_value().to_str().is_some_and(is_word));
        paths
    })
}

/// Whether all shells read a name as one word, which is not a flag.
fn is_word(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/@%+:=,~-".contains(&byte);
    !name.starts_with(['-', '=']) && name.bytes().all(is_plain)
}

/// Folder given by `-C` in the command line to complete, which follows `--`.
fn directory() -> PathBuf {
    let words: Vec<_> = env::args_os().skip_while(|word| word != "--").collect();
    let named = words.windows(2).rfind(|pair| pair[0] == "-C");
    named.map_or_else(|| PathBuf::from("."), |pair| PathBuf::from(&pair[1]))
}
