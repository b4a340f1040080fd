//! Very many of what costs nothing by itself: each costs as much as if it were
//! alone. Where each looks at all the others, these take minutes.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;

use super::{LONGEST, document, three_layers};
use crate::support::{check_with, options};

/// What `run` gives, in bounded time.
fn soon<T>(run: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), at_work());
    let given = run();
    let at_work = at_work().zip(before).map(|(now, before)| now.saturating_sub(before));
    let spent = at_work.unwrap_or(start.elapsed());
    assert!(spent < LONGEST, "{spent:?}");
    given
}

/// How long this thread has been at work, where the system tells: on a busy
/// machine that is far less than goes by.
fn at_work() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn selecting(rules: &[&str]) -> Selectors {
    let select = rules.iter().map(|rule| (*rule).to_owned()).collect();
    Selectors { select, ..Selectors::default() }
}

/// A document with so many keys, each on a line of its own.
fn keys(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut data = String::from("\n");
    for at in 0..count {
        writeln!(data, "  k{at}: {}", line(at)).expect("text can grow");
    }
    three_layers() + &document("d", "layer: site", "", &data)
}

#[test]
fn comments_that_each_ignore_one_finding() {
    let text = keys(20_000, |_| "yes # layercake: ignore[boolean-word] it is on".to_owned());
    let tree = MemoryTree::new().with("documents.yaml", text);
    let selectors = selecting(&["boolean-word", "unused-ignore"]);
    let checked = soon(|| check_with(&tree, options(Semantics::Documented), &selectors, |_| ()));
    assert_eq!(checked.findings.diagnostics.len(), 0);
    assert_eq!(checked.findings.suppressed.len(), 20_000);
}
