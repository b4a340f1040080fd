//! Division of a run for people: a table, and the remedy where one thing takes most of it.

use std::io::{self, Write};
use std::time::Duration;

use super::counted;
use crate::stopwatch::{RuleNames, RuleTime, Stage, StageTime, Times};

/// Maximum number of rules listed.
const MAX_RULES: usize = 5;

/// Writes how the time of a run on this number of threads splits.
///
/// # Errors
/// Those of `out`.
pub fn write(times: &Times, threads: usize, out: &mut dyn Write) -> io::Result<()> {
    let all = times.threads();
    let on = counted(threads, "thread");
    writeln!(out, "timing: {} on {on}", time(times.total))?;
    writeln!(out, "  {:32}{:>9}{:>9}{:>7}  for", "stage", "passed", "threads", "share")?;
    for stage in times.stages.iter().filter(|it| !it.threads.is_zero()) {
        let (passed, spent) = (time(stage.passed), time(stage.threads));
        let row = row(stage.stage.as_str(), &passed, &spent, share(stage.threads, all));
        writeln!(out, "{}", format!("{row}{}", done_for(stage)).trim_end())?;
        if stage.stage == Stage::Rules {
            write_rules(&times.rules, all, out)?;
        }
    }
    writeln!(out, "{}", row("all", &time(times.total), &time(all), Some(100)).trim_end())?;
    match advice(times) {
        Some(advice) => writeln!(out, "help: {advice}"),
        None => Ok(()),
    }
}

/// The dearest rules, and the others as one.
fn write_rules(rules: &[RuleTime], all: Duration, out: &mut dyn Write) -> io::Result<()> {
    let (dearest, others) = rules.split_at(rules.len().min(MAX_RULES));
    for rule in dearest {
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

/// The unit of work of a stage.
fn done_for(stage: &StageTime) -> String {
    match (stage.stage.unit(), usize::try_from(stage.count)) {
        (Some(unit), Ok(count)) if count > 0 => counted(count, unit),
        _ => String::new(),
    }
}

fn names((first, more): RuleNames) -> String {
    match more {
        0 => first.to_owned(),
        more => format!("{first} and {more} more"),
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

/// The share in hundredths, rounded.
fn share(part: Duration, all: Duration) -> Option<u128> {
    let all = all.as_nanos();
    (all > 0).then(|| (part.as_nanos() * 100 + all / 2) / all)
}

/// The remedy where one thing takes most of a run that is long enough to be noticed.
fn advice(times: &Times) -> Option<String> {
    /// Shortest duration that a user notices.
    const MIN_NOTICED: Duration = Duration::from_millis(200);
    if times.total < MIN_NOTICED {
        return None;
    }
    let all = times.threads();
    let dearest_rule = times.rules.first().filter(|rule| rule.threads * 5 > all * 2);
    if let Some(rule) = dearest_rule {
        let name = rule.rules.0;
        return Some(format!("`lint --ignore {name}` leaves out the rule that takes most of this"));
    }
    let dearest = times.stages.iter().max_by_key(|it| it.threads)?;
    (dearest.threads * 2 > all).then(|| against(dearest)).flatten().map(str::to_owned)
}

/// The way to make a stage cheaper; none where a user cannot change it.
fn against(dearest: &StageTime) -> Option<&'static str> {
    match dearest.stage {
        Stage::Start | Stage::List => {
            Some("most goes into finding files; `discover.exclude` leaves folders out")
        }
        Stage::Read => Some("most goes into reading files; a second run finds them in memory"),
        Stage::Parse | Stage::Documents => {
            Some("most goes into parsing; `discover.exclude` leaves files out that are no part")
        }
        Stage::Relate | Stage::Render | Stage::Validate | Stage::Rules => {
            Some("`--site GLOB` looks at some of the sites only")
        }
        Stage::Cause if dearest.count == 0 => {
            Some("most goes into following values back; `--site GLOB` compares some sites only")
        }
        Stage::Cause => Some(
            "most goes into rendering with some of the edits: fewer edits at once need less of \
             that, and so does a run without `--verify-attribution`",
        ),
        Stage::Pair | Stage::Differ | Stage::Route | Stage::Judge => None,
        Stage::Report => Some("most goes into writing the report; `--output concise` is shorter"),
        Stage::Free | Stage::Rest => None,
    }
}
