//! Benchmarks of checking repositories of many shapes and sizes, for whole processes and by stage
//! (`docs/performance.md`).
//!
//! | command | action |
//! |---|---|
//! | `cargo bench` | measures the usual shapes, and prints the tables |
//! | `cargo bench -- --all` | also measures the largest, which take 6 GB and many minutes |
//! | `cargo bench -- times-1 deep` | measures these shapes |
//! | `cargo bench -- at FOLDER` | measures a clone of an existing repository |
//! | `cargo bench -- table ...` | also writes the tables into the page |
//! | `cargo bench -- write FOLDER NAME` | writes a repository without measuring |
//!
//! Everything is created in a temporary folder, one repository at a time, and removed. Measuring
//! requires Linux.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::struct_excessive_bools,
    unreachable_pub,
    reason = "benchmarks run processes and print ratios of their costs"
)]

#[cfg(target_os = "linux")]
mod figures;
mod generator;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod repository;
mod shapes;
#[cfg(target_os = "linux")]
mod tables;

use std::io;
use std::path::{Path, PathBuf};

use self::shapes::Shape;

fn main() -> io::Result<()> {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", folder, name] => {
            let size = shape(name)?.write(Path::new(folder))?;
            println!(
                "{} files, {} documents, {} bytes",
                size.files, size.documents, size.bytes
            );
            Ok(())
        }
        ["table", ref wanted @ ..] => measure(&inputs(wanted)?, Then::Write),
        ref wanted => measure(&inputs(wanted)?, Then::Print),
    }
}

/// A repository to measure.
enum Input {
    Shape(Shape),
    At(PathBuf),
}

/// Destination of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Print,
    /// Prints the tables, and writes them into the page.
    Write,
}

fn inputs(wanted: &[&str]) -> io::Result<Vec<Input>> {
    let shapes = |shapes: &[Shape]| shapes.iter().copied().map(Input::Shape).collect();
    if wanted.is_empty() {
        return Ok(shapes(&Shape::USUAL));
    }
    let mut inputs: Vec<Input> = Vec::new();
    let mut wanted = wanted.iter();
    while let Some(word) = wanted.next() {
        match (*word, wanted.as_slice().first()) {
            ("--all", _) => inputs.extend::<Vec<Input>>(shapes(&Shape::ALL)),
            ("at", Some(folder)) => {
                inputs.push(Input::At(PathBuf::from(*folder)));
                wanted.next();
            }
            (name, _) => inputs.push(Input::Shape(shape(name)?)),
        }
    }
    Ok(inputs)
}

fn shape(name: &str) -> io::Result<Shape> {
    let names = || Shape::ALL.map(Shape::name).join(", ");
    Shape::named(name).ok_or_else(|| {
        io::Error::other(format!(
            "unknown shape `{name}`; expected one of: {}",
            names()
        ))
    })
}

#[cfg(not(target_os = "linux"))]
fn measure(_: &[Input], _: Then) -> io::Result<()> {
    println!("benchmarks of processes require Linux");
    Ok(())
}

/// Measures the repositories one after the other, and removes each before creating the next.
#[cfg(target_os = "linux")]
fn measure(inputs: &[Input], then: Then) -> io::Result<()> {
    use std::time::Duration;

    use self::figures::{Extent, Figures, tables};
    use self::repository::Repository;

    const EXTENT: Extent = Extent {
        time: Duration::from_secs(20),
        max_counted_bytes: 50e6,
    };
    let mut all = Vec::new();
    for input in inputs {
        let folder = tempfile::tempdir()?;
        let repository = match input {
            Input::Shape(shape) => Repository::make(folder.path(), *shape)?,
            Input::At(path) => Repository::clone(folder.path(), path)?,
        };
        eprintln!("measuring {}", repository.name);
        all.push(Figures::of(&repository, EXTENT)?);
    }
    let tables = tables(&all);
    for (name, text) in &tables {
        println!("{name}\n\n{text}");
    }
    match then {
        Then::Print => Ok(()),
        Then::Write => write_page(&tables),
    }
}

#[cfg(target_os = "linux")]
fn write_page(tables: &[(&str, String)]) -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let mut page = std::fs::read_to_string(&path)?;
    for (name, text) in tables {
        page = self::tables::put(&page, name, text)?;
    }
    std::fs::write(path, page)
}
