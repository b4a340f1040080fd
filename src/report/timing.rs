//! Human-readable timing of a run: a table, and advice if one stage dominates.

use std::io::{self, Write};
use std::time::Duration;

use super::counted;
use crate::stopwatch::{RuleNames, RuleTime, Stage, StageTime, Times};

/// Maximum number of rules listed.
const MAX_RULES: usize = 5;

/// Writes the timing of a run that used this number of threads.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(times: &Times, threads: usize, out: &mut dyn Write) -> io::Result<()> {
    let all = times.threads();
    let on = counted(threads, "thread");
    writeln!(out, "timing: {} on {on}", time(times.total))?;
    writeln!(
        out,
        "  {:32}{:>9}{:>9}{:>7}  work",
        "stage", "wall", "threads", "share"
    )?;
    for stage in times.stages.iter().filter(|it| !it.threads.is_zero()) {
        let passed = time(stage.passed);
        let spent = time(stage.threads);
        let row = row(
            stage.stage.as_str(),
            &passed,
            &spent,
            share(stage.threads, all),
        );
        writeln!(out, "{}", format!("{row}{}", work_done(stage)).trim_end())?;
        if stage.stage == Stage::Rules {
            write_rules(&times.rules, all, out)?;
        }
    }
    writeln!(
        out,
        "{}",
        row("all", &time(times.total), &time(all), Some(100)).trim_end()
    )?;
    match advice(times) {
        Some(advice) => writeln!(out, "help: {advice}"),
        None => Ok(()),
    }
}

/// Writes the slowest rules, and the sum of the others.
fn write_rules(rules: &[RuleTime], all: Duration, out: &mut dyn Write) -> io::Result<()> {
    let (slowest, others) = rules.split_at(rules.len().min(MAX_RULES));
    for rule in slowest {
        write_rule(&names(rule.rules), rule.threads, all, out)?;
    }
    if !others.is_empty() {
        let spent = others.iter().map(|rule| rule.threads).sum();
        write_rule(&format!("{} others", others.len()), spent, all, out)?;
    }
    Ok(())
}

fn write_rule(name: &str, spent: Duration, all: Duration, out: &mut dyn Write) -> io::Result<()> {
    let row = row(&format!("  {name}"), "", &time(spent), share(spent, all));
    writeln!(out, "{}", row.trim_end())
}

fn row(name: &str, passed: &str, spent: &str, share: Option<u128>) -> String {
    let share = share.map(|share| format!("{share}%")).unwrap_or_default();
    format!("  {name:32}{passed:>9}{spent:>9}{share:>7}  ")
}

/// Describes the amount of work of a stage.
fn work_done(stage: &StageTime) -> String {
    match (stage.stage.unit(), usize::try_from(stage.count)) {
        (Some(unit), Ok(count)) if count > 0 => counted(count, unit),
        _ => String::new(),
    }
}

fn names(rules: RuleNames) -> String {
    match rules.others {
        0 => rules.first.to_owned(),
        more => format!("{} and {more} more", rules.first),
    }
}

fn time(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds >= 10_000.0 {
        format!("{:.1} s", time.as_secs_f64())
    } else if milliseconds >= 100.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{milliseconds:.1} ms")
    }
}

/// Returns a share in percent, rounded.
fn share(part: Duration, all: Duration) -> Option<u128> {
    let all = all.as_nanos();
    (all > 0).then(|| (part.as_nanos() * 100 + all / 2) / all)
}

/// Returns advice if one stage or rule dominates a noticeably long run.
fn advice(times: &Times) -> Option<String> {
    /// Minimum duration that a user notices.
    const MIN_NOTICED: Duration = Duration::from_millis(200);
    if times.total < MIN_NOTICED {
        return None;
    }
    let all = times.threads();
    let slowest_rule = times
        .rules
        .first()
        .filter(|rule| rule.threads * 5 > all * 2);
    if let Some(rule) = slowest_rule {
        let name = rule.rules.first;
        return Some(format!("skip the slowest rule with `lint --ignore {name}`"));
    }
    let slowest = times.stages.iter().max_by_key(|it| it.threads)?;
    (slowest.threads * 2 > all)
        .then(|| stage_advice(slowest))
        .flatten()
        .map(str::to_owned)
}

/// Returns advice to speed up a stage; `None` if a user cannot influence it.
fn stage_advice(slowest: &StageTime) -> Option<&'static str> {
    match slowest.stage {
        Stage::Start | Stage::List => {
            Some("most time is spent finding files: exclude folders with `discover.exclude`")
        }
        Stage::Read => {
            Some("most time is spent reading files: a second run finds them in the page cache")
        }
        Stage::Parse | Stage::Documents => {
            Some("most time is spent parsing: exclude unrelated files with `discover.exclude`")
        }
        Stage::Relate | Stage::Render | Stage::Validate | Stage::Rules => {
            Some("check only some of the sites with `--site GLOB`")
        }
        Stage::Cause if slowest.count == 0 => {
            Some("most time is spent tracing values: compare fewer sites with `--site GLOB`")
        }
        Stage::Cause => Some(
            "most time is spent rendering with subsets of the edits: compare fewer edits at once, \
             or omit `--verify-attribution`",
        ),
        Stage::Pair | Stage::Differ | Stage::Route | Stage::Judge => None,
        Stage::Report => {
            Some("most time is spent writing the report: use the shorter `--output concise`")
        }
        Stage::Free | Stage::Rest => None,
    }
}
