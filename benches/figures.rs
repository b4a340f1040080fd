//! What was measured of each repository, and the tables of it.

use std::io;
use std::time::Duration;

use serde_json::Value as Json;

use crate::generator::Size;
use crate::processes::{self, Cost, Run, Threads};
use crate::repository::Repository;
use crate::tables::{TABLES, Table, rule_of};

/// All that was measured of one repository.
pub struct Figures {
    name: String,
    times: Option<usize>,
    size: Size,
    sites: usize,
    parse: Cost,
    lint: Cost,
    since: Cost,
    one_thread: Cost,
    /// The unit beside which the hook was run, and the hook.
    staged: Option<(Cost, Cost)>,
    cold: Option<Cost>,
    instructions: Option<(u64, u64)>,
    stages: [(&'static str, Json); 2],
}

/// What is left out of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How long the runs of one kind may take together.
    pub time: Duration,
    /// Larger repositories are not run in valgrind, which takes fifty
    /// times as long.
    pub most_bytes_counted: usize,
}

impl Figures {
    /// Measures a repository, and leaves an edit staged in it.
    pub fn of(repository: &Repository, extent: Extent) -> io::Result<Self> {
        const RUNS: [(Run, Threads); 4] = [
            (Run::Parse, Threads::All),
            (Run::Lint, Threads::All),
            (Run::Since, Threads::All),
            (Run::Lint, Threads::One),
        ];
        let costs = processes::in_turn(repository, &RUNS, extent.time)?;
        let stages = [
            ("`lint`", processes::stages(repository, Run::Lint)?),
            ("`--since`", processes::stages(repository, Run::Since)?),
        ];
        let instructions = if repository.size.bytes <= extent.most_bytes_counted {
            instructions(repository)?
        } else {
            None
        };
        processes::chill(repository)?;
        let cold = processes::run(&repository.root, Run::Lint, Threads::All)?;
        Ok(Self {
            name: repository.name.clone(),
            times: repository.times,
            size: repository.size,
            sites: repository.sites(),
            parse: costs[0],
            lint: costs[1],
            since: costs[2],
            one_thread: costs[3],
            staged: staged(repository, extent)?,
            cold: (cold.from_disk > 0).then_some(cold),
            instructions,
            stages,
        })
    }

    fn staged_units(&self) -> Option<f64> {
        self.staged.map(|(unit, staged)| ratio(staged.cpu, unit.cpu))
    }
}

fn staged(repository: &Repository, extent: Extent) -> io::Result<Option<(Cost, Cost)>> {
    if !repository.stage()? {
        return Ok(None);
    }
    let runs = [(Run::Parse, Threads::All), (Run::Staged, Threads::All)];
    let costs = processes::in_turn(repository, &runs, extent.time)?;
    Ok(Some((costs[0], costs[1])))
}

fn instructions(repository: &Repository) -> io::Result<Option<(u64, u64)>> {
    let parse = processes::instructions(repository, Run::Parse)?;
    let lint = processes::instructions(repository, Run::Lint)?;
    Ok(parse.zip(lint))
}

/// The tables, each with its name, as Markdown.
pub fn tables(figures: &[Figures]) -> Vec<(&'static str, String)> {
    TABLES.iter().map(|table| (table.name, text(table, rows(table.name, figures)))).collect()
}

fn rows(name: &str, figures: &[Figures]) -> Vec<Vec<String>> {
    match name {
        "targets" => targets(figures),
        "costs" => figures.iter().map(costs).collect(),
        "growth" => growth(figures),
        "threads" => figures.iter().map(threads).collect(),
        "stages" => figures.iter().flat_map(stages).collect(),
        "cold" => figures.iter().map(cold).collect(),
        "instructions" => figures.iter().filter_map(instruction_row).collect(),
        name => unreachable!("the table `{name}` has rows"),
    }
}

fn text(table: &Table, rows: Vec<Vec<String>>) -> String {
    let rows = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!("{}\n{}\n{}", table.head, rule_of(table.head), rows.collect::<String>())
}

/// What is promised, beside what was measured.
fn targets(figures: &[Figures]) -> Vec<Vec<String>> {
    let at = |times: usize| figures.iter().find(|it| it.times == Some(times));
    let lint = |it: &Figures| format!("{:.2}", ratio(it.lint.cpu, it.parse.cpu));
    let since = |it: &Figures| format!("{:.2}", ratio(it.since.cpu, it.lint.cpu));
    let wall = |it: &Figures| format!("{:.2}", ratio(it.lint.wall, it.lint.cpu));
    let staged = |it: &Figures| {
        let staged = it.staged.map(|(_, staged)| milliseconds(staged.cpu));
        staged.map_or_else(unknown, |staged| format!("{staged:.0} ms"))
    };
    let memory = |it: &Figures| format!("{:.1} GB", it.lint.peak as f64 / 1e9);
    let grown = at(1).zip(at(200)).map(|(one, other)| ratio(other.lint.cpu, one.lint.cpu));
    let row = |what: &str, promised: &str, measured: Option<String>| {
        vec![what.to_owned(), promised.to_owned(), measured.unwrap_or_else(unknown)]
    };
    vec![
        row("`lint` of treasuremap's shape, in units", "2.0", at(1).map(lint)),
        row("`lint` at 50 times the size, in units", "1.5", at(50).map(lint)),
        row("`lint --since HEAD~1` / `lint`", "1.3", at(1).map(since)),
        row("the same at 50 times the size", "1.15", at(50).map(since)),
        row("time / CPU of `lint` at 50 times, on 2 cores", "0.6", at(50).map(wall)),
        row("CPU of the hook with one staged edit", "100 ms", at(1).map(staged)),
        row("`lint` at 200 times the size / `lint`", "220", grown.map(|it| format!("{it:.0}"))),
        row("memory of `lint` at 200 times", "6 GB", at(200).map(memory)),
    ]
}

fn costs(of: &Figures) -> Vec<String> {
    vec![
        of.name.clone(),
        of.size.files.to_string(),
        of.size.documents.to_string(),
        format!("{:.1}", of.size.bytes as f64 / 1e6),
        of.sites.to_string(),
        format!("{:.2}", ratio(of.lint.cpu, of.parse.cpu)),
        format!("{:.2}", ratio(of.since.cpu, of.parse.cpu)),
        format!("{:.2}", ratio(of.since.cpu, of.lint.cpu)),
        of.staged_units().map_or_else(unknown, |units| format!("{units:.2}")),
        format!("{} MB", of.lint.peak / 1_000_000),
        format!("{} MB", of.since.peak / 1_000_000),
    ]
}

/// The cost of each size divided by the size, against the smallest.
fn growth(figures: &[Figures]) -> Vec<Vec<String>> {
    let mut sizes: Vec<(usize, &Figures)> =
        figures.iter().filter_map(|it| Some((it.times?, it))).collect();
    sizes.sort_by_key(|(times, _)| *times);
    let Some((smallest, first)) = sizes.first().copied() else { return Vec::new() };
    let growth = |cost: Duration, of_first: Duration, times: usize| {
        let grown = ratio(cost, of_first) * smallest as f64 / times as f64;
        format!("{grown:.2}")
    };
    sizes
        .iter()
        .map(|(times, of)| {
            let staged = of.staged.zip(first.staged);
            let staged = staged.map(|((_, one), (_, other))| growth(one.cpu, other.cpu, *times));
            vec![
                of.name.clone(),
                times.to_string(),
                growth(of.parse.cpu, first.parse.cpu, *times),
                growth(of.lint.cpu, first.lint.cpu, *times),
                growth(of.since.cpu, first.since.cpu, *times),
                staged.unwrap_or_else(unknown),
            ]
        })
        .collect()
}

fn threads(of: &Figures) -> Vec<String> {
    let wall = |cost: Cost| format!("{:.2}", ratio(cost.wall, cost.cpu));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        of.name.clone(),
        cores.to_string(),
        wall(of.lint),
        wall(of.one_thread),
        wall(of.since),
        of.staged.map_or_else(unknown, |(_, staged)| wall(staged)),
        format!("{:.2}", ratio(of.lint.cpu, of.one_thread.cpu)),
        format!("{:.2}", ratio(of.lint.wall, of.one_thread.wall)),
    ]
}

/// The shares of the stages, which the head of the table names.
fn stages(of: &Figures) -> Vec<Vec<String>> {
    let table = TABLES.iter().find(|table| table.name == "stages").expect("it is a table");
    let columns: Vec<&str> = table.head.split('|').map(str::trim).collect();
    let (first, last) = (3, columns.len() - 2);
    let row = |(run, timing): &(&str, Json)| {
        let stages = timing["stages"].as_array().map_or(&[][..], |it| it);
        let spent = |name: &str| {
            let stage = stages.iter().find(|it| it["stage"] == name);
            stage.and_then(|it| it["threads"].as_f64()).unwrap_or_default()
        };
        let all: f64 = stages.iter().filter_map(|it| it["threads"].as_f64()).sum();
        let share = |part: f64| format!("{:.0}%", part / all * 100.0);
        let rule = &timing["rules"][0];
        let dearest = rule["rule"].as_str().map(|name| {
            format!("`{name}` {}", share(rule["threads"].as_f64().unwrap_or_default()))
        });
        let mut row = vec![of.name.clone(), (*run).to_owned()];
        row.extend(columns[first..last].iter().map(|stage| share(spent(stage))));
        row.push(dearest.unwrap_or_else(unknown));
        row
    };
    of.stages.iter().map(row).collect()
}

fn cold(of: &Figures) -> Vec<String> {
    let Some(cold) = of.cold else {
        return vec![of.name.clone(), "none: it stayed in memory".into(), unknown(), unknown()];
    };
    vec![
        of.name.clone(),
        format!("{:.1} MB", cold.from_disk as f64 / 1e6),
        format!("{:.2}", ratio(cold.wall, of.lint.wall)),
        format!("{:.2}", ratio(cold.cpu, of.lint.cpu)),
    ]
}

fn instruction_row(of: &Figures) -> Option<Vec<String>> {
    let (parse, lint) = of.instructions?;
    let millions = |count: u64| (count / 1_000_000).to_string();
    let ratio = format!("{:.2}", lint as f64 / parse as f64);
    Some(vec![of.name.clone(), millions(parse), millions(lint), ratio])
}

fn unknown() -> String {
    "–".into()
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64().max(1e-9)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
