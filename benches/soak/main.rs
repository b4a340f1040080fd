//! Soak benchmark: 1,000 random edits of a repository in one process, each rendered in full and
//! compared with the previous version. All results must agree, and the process must not grow
//! (`docs/soak.md`).
//!
//! `cargo bench --bench soak -- 1000 1` walks over the generated repository with seed 1. `... --
//! 300 1 at FOLDER` walks over a copy of the files of a folder, with all rules. `... keep FOLDER`
//! after either writes the files before and after each failing edit to that folder.

#![expect(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "benchmarks access the system and print figures"
)]

#[path = "../generator.rs"]
mod generator;
mod memory;
mod tally;
mod walk;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use similar::TextDiff;

use tally::Tally;
use walk::engine::Rules;
use walk::program::Program;
use walk::{Course, Files, Stepped, Walk};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Command-line arguments.
struct Arguments {
    edits: usize,
    seed: u64,
    /// Folder whose files are used; by default, files are generated.
    at: Option<PathBuf>,
    /// Folder for the files of failing edits.
    keep: Option<PathBuf>,
}

impl Arguments {
    fn read() -> io::Result<Self> {
        // `cargo bench` adds `--bench`.
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        let usage = || io::Error::other("usage: EDITS SEED [at FOLDER] [keep FOLDER]");
        let mut number = || {
            words
                .next()
                .and_then(|word| word.parse().ok())
                .ok_or_else(usage)
        };
        let (edits, seed): (u64, u64) = (number()?, number()?);
        let edits = usize::try_from(edits).map_err(io::Error::other)?;
        let mut arguments = Self {
            edits,
            seed,
            at: None,
            keep: None,
        };
        while let Some(word) = words.next() {
            let folder = words.next().map(PathBuf::from).ok_or_else(usage)?;
            match &*word {
                "at" => arguments.at = Some(folder),
                "keep" => arguments.keep = Some(folder),
                _ => return Err(usage()),
            }
        }
        Ok(arguments)
    }

    fn files(&self) -> io::Result<Files> {
        let mut files = Files::new();
        match &self.at {
            Some(folder) => add(folder, folder, &mut files)?,
            None => {
                let folder = tempfile::tempdir()?;
                generator::write(folder.path(), 1)?;
                add(folder.path(), folder.path(), &mut files)?;
            }
        }
        Ok(files)
    }

    fn course(&self) -> Course {
        Course {
            seed: self.seed,
            rules: if self.at.is_some() {
                Rules::All
            } else {
                Rules::Usual
            },
            again_every: 10,
            program_every: 50,
        }
    }
}

/// Adds the text files below `folder`, with paths relative to `root`.
fn add(root: &Path, folder: &Path, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != ".git") {
                add(root, &path, files)?;
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let inside = path.strip_prefix(root).map_err(io::Error::other)?;
            files.insert(inside.to_string_lossy().into(), text.into());
        }
    }
    Ok(())
}

/// Number of edits after which caches of threads and tables are filled.
const WARM_UP_EDITS: usize = 20;

/// Runs the walk; returns whether it succeeded.
fn run() -> io::Result<bool> {
    let arguments = Arguments::read()?;
    // Failures of the warm-up occur again below, and are reported there.
    walk(&arguments, WARM_UP_EDITS, &mut |_, _| Ok(()))?;
    let mut tally = Tally::new();
    walk(&arguments, arguments.edits, &mut |stepped, distance| {
        tally.count(stepped, distance);
        if stepped.wrong.is_empty() {
            Ok(())
        } else {
            print_failure(&arguments, stepped)
        }
    })?;
    tally.end();
    tally.print();
    Ok(tally.failed() == 0 && !tally.grows())
}

/// Walks this number of edits; `see` is called for each, with the number of files that differ from
/// the original. Everything allocated by the walk is freed.
fn walk(
    arguments: &Arguments,
    edits: usize,
    see: &mut dyn FnMut(&Stepped, usize) -> io::Result<()>,
) -> io::Result<()> {
    let program = Program {
        path: env!("CARGO_BIN_EXE_layercake").into(),
    };
    let walk = Walk::new(arguments.files()?, arguments.course(), program);
    let mut walk = walk.map_err(io::Error::other)?;
    println!(
        "seed {}: {} outputs initially",
        arguments.seed,
        walk.outputs()
    );
    for _ in 0..edits {
        let stepped = walk.step()?;
        see(&stepped, walk.distance())?;
    }
    println!("{} outputs after {edits} edits", walk.outputs());
    Ok(())
}

/// Prints a failing edit as a diff, with its failures.
fn print_failure(arguments: &Arguments, stepped: &Stepped) -> io::Result<()> {
    const MAX_FAILURES: usize = 12;
    println!(
        "seed {}, edit {} failed: {:?}",
        arguments.seed, stepped.number, stepped.did
    );
    for wrong in stepped.wrong.iter().take(MAX_FAILURES) {
        println!("  {wrong}");
    }
    println!("  {} failures", stepped.wrong.len());
    for path in walk::differing(&stepped.base, &stepped.head) {
        let [before, after] =
            [&stepped.base, &stepped.head].map(|files| files.get(&path).map_or("", |text| &**text));
        let diff = TextDiff::from_lines(before, after);
        println!("{}", diff.unified_diff().header(&path, &path));
    }
    for (side, files) in [("base", &stepped.base), ("head", &stepped.head)] {
        let Some(keep) = &arguments.keep else {
            continue;
        };
        let root = keep.join(format!("{}-{side}", stepped.number));
        for (path, text) in files {
            let file = root.join(&**path);
            fs::create_dir_all(file.parent().unwrap_or(&root))?;
            fs::write(file, &**text)?;
        }
    }
    Ok(())
}
