//! Measurements of each repository, and their tables.

use std::io;
use std::time::Duration;

use crate::generator::Size;
use crate::processes::{self, Costs, Run};
use crate::repository::Repository;
use crate::tables::{TABLES, Table, rule_of};

/// Measurements of one repository.
pub struct Figures {
    name: String,
    times: Option<usize>,
    size: Size,
    sites: usize,
    parse: Costs,
    lint: Costs,
    since: Costs,
    hook: Option<Costs>,
    /// Instruction counts of `lint` and `--since`, if they were measured.
    instructions: [Option<u64>; 2],
}

/// Limits of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Maximum total time for the runs of one kind.
    pub time: Duration,
    /// Maximum cost of runs under valgrind, which takes fifty times as long, in bytes of parsed
    /// input. Not a time, so that every machine counts the same runs.
    pub max_counted_bytes: f64,
}

impl Figures {
    /// Measures a repository, and leaves an edit staged in it.
    pub fn of(repository: &Repository, extent: Extent) -> io::Result<Self> {
        let runs = [Run::Parse, Run::Lint, Run::Since];
        let [parse, lint, since] = processes::in_turn(repository, runs, extent.time)?;
        let count = |run: Run, costs: &Costs| {
            if costs.times(&parse) * (repository.size.bytes as f64) <= extent.max_counted_bytes {
                processes::instructions(repository, run)
            } else {
                Ok(None)
            }
        };
        let instructions = [count(Run::Lint, &lint)?, count(Run::Since, &since)?];
        Ok(Self {
            name: repository.name.clone(),
            times: repository.times,
            size: repository.size,
            sites: repository.sites(),
            parse,
            lint,
            since,
            hook: hook(repository, extent)?,
            instructions,
        })
    }
}

fn hook(repository: &Repository, extent: Extent) -> io::Result<Option<Costs>> {
    if !repository.stage()? {
        return Ok(None);
    }
    let [hook] = processes::in_turn(repository, [Run::Staged], extent.time)?;
    Ok(Some(hook))
}

/// All tables with their names, as Markdown.
pub fn tables(figures: &[Figures]) -> Vec<(&'static str, String)> {
    TABLES
        .iter()
        .map(|table| (table.name, text(table, &rows(table.name, figures))))
        .collect()
}

fn rows(name: &str, figures: &[Figures]) -> Vec<Vec<String>> {
    match name {
        "costs" => figures.iter().map(costs).collect(),
        "budgets" => budgets(figures),
        name => unreachable!("the table `{name}` has rows"),
    }
}

fn text(table: &Table, rows: &[Vec<String>]) -> String {
    let rows = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!(
        "{}\n{}\n{}",
        table.head,
        rule_of(table.head),
        rows.collect::<String>()
    )
}

fn costs(of: &Figures) -> Vec<String> {
    let time = |costs: &Costs| format!("{:.2} s", costs.median().wall.as_secs_f64());
    let memory = |costs: &Costs| format!("{} MB", costs.median().peak / 1_000_000);
    let hook = |figure: &dyn Fn(&Costs) -> String| of.hook.as_ref().map_or_else(unknown, figure);
    let [lint, since] = of
        .instructions
        .map(|count| count.map_or_else(unknown, |count| format!("{:.2} G", count as f64 / 1e9)));
    vec![
        format!("`{}`", of.name),
        of.size.files.to_string(),
        of.size.documents.to_string(),
        of.sites.to_string(),
        time(&of.lint),
        time(&of.since),
        hook(&time),
        memory(&of.lint),
        memory(&of.since),
        hook(&memory),
        lint,
        since,
    ]
}

/// Rows of the budgets and their measurements.
fn budgets(figures: &[Figures]) -> Vec<Vec<String>> {
    let row = |((budget, maximum), measured): ((&str, &str), String)| {
        vec![budget.to_owned(), maximum.to_owned(), measured]
    };
    BUDGETS
        .into_iter()
        .zip(measured(figures))
        .map(row)
        .collect()
}

/// Budgets, and their maximum values.
const BUDGETS: [(&str, &str); 8] = [
    ("CPU of `lint` / `debug parse`, `times-1`", "2.5"),
    ("CPU of `lint` / `debug parse`, `times-50`", "2.5"),
    ("CPU of `lint --since HEAD~1` / `lint`, `times-1`", "1.6"),
    ("CPU of `lint --since HEAD~1` / `lint`, `times-50`", "1.5"),
    ("wall time / CPU of `lint` on 2 cores, `times-50`", "0.6"),
    ("CPU of the hook, `times-1`", "100 ms"),
    ("CPU of `lint`, `times-200` / `times-1`", "220"),
    ("memory of `lint`, `times-200`", "6 GB"),
];

/// Measurements of all budgets.
fn measured(figures: &[Figures]) -> [String; BUDGETS.len()] {
    let at = |times: usize| figures.iter().find(|it| it.times == Some(times));
    let (one, fifty, largest) = (at(1), at(50), at(200));
    let lint = |it: &Figures| it.lint.times(&it.parse);
    let since = |it: &Figures| it.since.times(&it.lint);
    let wall = |it: &Figures| ratio(it.lint.median().wall, it.lint.median().cpu);
    let hook = one
        .and_then(|it| it.hook.as_ref())
        .map(|it| it.median().cpu.as_secs_f64() * 1e3);
    let growth = one.zip(largest);
    let growth = growth.map(|(one, it)| ratio(it.lint.median().cpu, one.lint.median().cpu));
    let memory = largest.map(|it| it.lint.median().peak as f64 / 1e9);
    let two_places = |figure: Option<f64>| figure.map(|it| format!("{it:.2}"));
    let figures = [
        two_places(one.map(lint)),
        two_places(fifty.map(lint)),
        two_places(one.map(since)),
        two_places(fifty.map(since)),
        two_places(fifty.map(wall)),
        hook.map(|it| format!("{it:.0} ms")),
        growth.map(|it| format!("{it:.0}")),
        memory.map(|it| format!("{it:.1} GB")),
    ];
    figures.map(|figure| figure.unwrap_or_else(unknown))
}

fn unknown() -> String {
    "–".into()
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64().max(1e-9)
}
