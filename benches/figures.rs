//! What was measured of each repository, and the tables of it.

use std::io;
use std::time::Duration;

use serde_json::Value as Json;

use crate::generator::Size;
use crate::processes::{self, Cost, Costs, Run, Threads};
use crate::repository::Repository;
use crate::tables::{TABLES, Table, rule_of};

/// All that was measured of one repository.
pub struct Figures {
    name: String,
    times: Option<usize>,
    size: Size,
    sites: usize,
    parse: Costs,
    lint: Costs,
    since: Costs,
    one_thread: Costs,
    /// The unit beside which the hook was run, and the hook.
    staged: Option<(Costs, Costs)>,
    cold: Option<Cost>,
    /// Of `debug parse`, `lint` and `--since`, where they were counted.
    instructions: [Option<u64>; 3],
    stages: [(&'static str, Json); 2],
}

/// What is left out of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// How long the runs of one kind may take together.
    pub time: Duration,
    /// What costs more than to parse so many bytes is not run in valgrind, which takes
    /// fifty times as long. Not a time, so that every machine counts the same runs.
    pub most_counted: f64,
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
        let costs = processes::in_turn(repository, RUNS, extent.time)?;
        let [parse, lint, since, one_thread] = costs;
        let stages = [
            ("`lint`", processes::stages(repository, Run::Lint)?),
            ("`--since`", processes::stages(repository, Run::Since)?),
        ];
        let count = |run: Run, costs: &Costs| {
            let units = ratio(costs.least.cpu, parse.least.cpu);
            if units * (repository.size.bytes as f64) <= extent.most_counted {
                processes::instructions(repository, run)
            } else {
                Ok(None)
            }
        };
        let instructions =
            [count(Run::Parse, &parse)?, count(Run::Lint, &lint)?, count(Run::Since, &since)?];
        processes::chill(repository)?;
        let cold = processes::run(&repository.root, Run::Lint, Threads::All)?;
        Ok(Self {
            name: repository.name.clone(),
            times: repository.times,
            size: repository.size,
            sites: repository.sites(),
            parse,
            lint,
            since,
            one_thread,
            staged: staged(repository, extent)?,
            cold: (cold.from_disk > 0).then_some(cold),
            instructions,
            stages,
        })
    }

    fn staged_units(&self) -> Option<f64> {
        self.staged.as_ref().map(|(unit, staged)| ratio(staged.least.cpu, unit.least.cpu))
    }
}

fn staged(repository: &Repository, extent: Extent) -> io::Result<Option<(Costs, Costs)>> {
    if !repository.stage()? {
        return Ok(None);
    }
    let runs = [(Run::Parse, Threads::All), (Run::Staged, Threads::All)];
    let [unit, staged] = processes::in_turn(repository, runs, extent.time)?;
    Ok(Some((unit, staged)))
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
    let (least, median) = (measured(figures, &LEAST), measured(figures, &MEDIAN));
    let figures = least.into_iter().zip(median);
    let rows = TARGETS.iter().zip(figures).map(|((what, promised), (least, median))| {
        vec![(*what).to_owned(), (*promised).to_owned(), least, median]
    });
    rows.collect()
}

/// What is promised, and how much of it.
const TARGETS: [(&str, &str); 8] = [
    ("`lint` of treasuremap's shape, in units", "2.0"),
    ("`lint` at 50 times the size, in units", "1.5"),
    ("`lint --since HEAD~1` / `lint`", "1.3"),
    ("the same at 50 times the size", "1.15"),
    ("time / CPU of `lint` at 50 times, on 2 cores", "0.6"),
    ("CPU of the hook with one staged edit", "100 ms"),
    ("`lint` at 200 times the size / `lint`", "220"),
    ("memory of `lint` at 200 times", "6 GB"),
];

/// What is taken of several rounds.
struct Estimate {
    cost: fn(&Costs) -> Cost,
    /// How many times the CPU time of the second the first takes.
    times: fn(&Costs, &Costs) -> f64,
}

const LEAST: Estimate = Estimate {
    cost: |costs| costs.least,
    times: |one, other| ratio(one.least.cpu, other.least.cpu),
};

const MEDIAN: Estimate = Estimate { cost: Costs::median, times: Costs::times };

/// What was measured of each target.
fn measured(figures: &[Figures], Estimate { cost, times }: &Estimate) -> [String; 8] {
    let at = |times: usize| figures.iter().find(|it| it.times == Some(times));
    let (one, fifty, largest) = (at(1), at(50), at(200));
    let lint = |it: &Figures| times(&it.lint, &it.parse);
    let since = |it: &Figures| times(&it.since, &it.lint);
    let wall = |it: &Figures| ratio(cost(&it.lint).wall, cost(&it.lint).cpu);
    let staged = one.and_then(|it| it.staged.as_ref());
    let staged = staged.map(|(_, staged)| milliseconds(cost(staged).cpu));
    let grown = one.zip(largest);
    let grown = grown.map(|(one, it)| ratio(cost(&it.lint).cpu, cost(&one.lint).cpu));
    let memory = largest.map(|it| cost(&it.lint).peak as f64 / 1e9);
    let two_places = |figure: Option<f64>| figure.map(|it| format!("{it:.2}"));
    let figures = [
        two_places(one.map(lint)),
        two_places(fifty.map(lint)),
        two_places(one.map(since)),
        two_places(fifty.map(since)),
        two_places(fifty.map(wall)),
        staged.map(|it| format!("{it:.0} ms")),
        grown.map(|it| format!("{it:.0}")),
        memory.map(|it| format!("{it:.1} GB")),
    ];
    figures.map(|figure| figure.unwrap_or_else(unknown))
}

fn costs(of: &Figures) -> Vec<String> {
    vec![
        of.name.clone(),
        of.size.files.to_string(),
        of.size.documents.to_string(),
        format!("{:.1}", of.size.bytes as f64 / 1e6),
        of.sites.to_string(),
        format!("{:.2}", ratio(of.lint.least.cpu, of.parse.least.cpu)),
        format!("{:.2}", ratio(of.since.least.cpu, of.parse.least.cpu)),
        format!("{:.2}", ratio(of.since.least.cpu, of.lint.least.cpu)),
        of.staged_units().map_or_else(unknown, |units| format!("{units:.2}")),
        format!("{} MB", of.lint.least.peak / 1_000_000),
        format!("{} MB", of.since.least.peak / 1_000_000),
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
            let staged = of.staged.as_ref().zip(first.staged.as_ref());
            let staged =
                staged.map(|((_, one), (_, other))| growth(one.least.cpu, other.least.cpu, *times));
            vec![
                of.name.clone(),
                times.to_string(),
                growth(of.parse.least.cpu, first.parse.least.cpu, *times),
                growth(of.lint.least.cpu, first.lint.least.cpu, *times),
                growth(of.since.least.cpu, first.since.least.cpu, *times),
                staged.unwrap_or_else(unknown),
            ]
        })
        .collect()
}

fn threads(of: &Figures) -> Vec<String> {
    let wall = |costs: &Costs| format!("{:.2}", ratio(costs.least.wall, costs.least.cpu));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        of.name.clone(),
        cores.to_string(),
        wall(&of.lint),
        wall(&of.one_thread),
        wall(&of.since),
        of.staged.as_ref().map_or_else(unknown, |(_, staged)| wall(staged)),
        format!("{:.2}", ratio(of.lint.least.cpu, of.one_thread.least.cpu)),
        format!("{:.2}", ratio(of.lint.least.wall, of.one_thread.least.wall)),
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
        format!("{:.2}", ratio(cold.wall, of.lint.least.wall)),
        format!("{:.2}", ratio(cold.cpu, of.lint.least.cpu)),
    ]
}

fn instruction_row(of: &Figures) -> Option<Vec<String>> {
    let [parse, lint, since] = of.instructions;
    parse?;
    let millions =
        |count: Option<u64>| count.map_or_else(unknown, |count| (count / 1_000_000).to_string());
    let ratio = |part: Option<u64>, whole: Option<u64>| {
        let ratio = part.zip(whole).map(|(part, whole)| part as f64 / whole as f64);
        ratio.map_or_else(unknown, |ratio| format!("{ratio:.2}"))
    };
    let counts = [parse, lint, since].map(millions);
    let ratios = [ratio(lint, parse), ratio(since, lint)];
    Some(std::iter::once(of.name.clone()).chain(counts).chain(ratios).collect())
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
