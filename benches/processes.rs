//! Whole processes: `lint` in units of `debug parse`.

use std::io;

use crate::Repository;

/// Runs both in turn over every repository and prints a table.
#[cfg(not(target_os = "linux"))]
pub fn measure(_: &[Repository]) -> io::Result<()> {
    println!("The cost of whole processes is measured on Linux only.\n");
    Ok(())
}

/// Runs both in turn over every repository and prints a table.
#[cfg(target_os = "linux")]
pub fn measure(repositories: &[Repository]) -> io::Result<()> {
    use crate::{median, milliseconds};

    println!("Whole processes, user and system time; one unit is `debug parse` of the same files");
    println!(
        "{:>5} {:>7} {:>10} {:>8} {:>9} {:>9} {:>6} {:>12} {:>12} {:>9}",
        "times",
        "files",
        "documents",
        "MB",
        "unit ms",
        "lint ms",
        "units",
        "unit growth",
        "lint growth",
        "peak MB"
    );
    let mut first: Option<(f64, f64)> = None;
    for repository in repositories {
        let runs = if repository.scale > 10 { 10 } else { 20 };
        let (mut parse, mut lint, mut peak) = (Vec::new(), Vec::new(), 0);
        // The first of each fills the page cache and counts for nothing.
        for run in 0..=runs {
            let (parsed, linted) = (
                linux::run(repository, &["debug", "parse"])?,
                linux::run(repository, &["lint", "--exit-zero"])?,
            );
            if run > 0 {
                parse.push(parsed.time);
                lint.push(linted.time);
                peak = peak.max(linted.peak);
            }
        }
        let (parse, lint) = (milliseconds(median(parse)), milliseconds(median(lint)));
        let scale = repository.scale as f64;
        let (one_parse, one_lint) = *first.get_or_insert((parse / scale, lint / scale));
        println!(
            "{:>5} {:>7} {:>10} {:>8.1} {:>9.1} {:>9.1} {:>6.2} {:>12.2} {:>12.2} {:>9.0}",
            repository.scale,
            repository.size.files,
            repository.size.documents,
            repository.size.bytes as f64 / 1e6,
            parse,
            lint,
            lint / parse,
            parse / scale / one_parse,
            lint / scale / one_lint,
            peak as f64 / 1e6
        );
    }
    println!("Growth is the cost for each time of the size, against the first row.\n");
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use wait4::Wait4;

    use crate::Repository;

    /// What a process cost.
    pub struct Cost {
        /// User and system time.
        pub time: Duration,
        /// The most memory it held, in bytes.
        pub peak: u64,
    }

    /// Runs layercake over a repository to its end.
    pub fn run(repository: &Repository, arguments: &[&str]) -> io::Result<Cost> {
        let mut process = Command::new(env!("CARGO_BIN_EXE_layercake"))
            .args(arguments)
            .arg("-C")
            .arg(&repository.root)
            .stdout(Stdio::null())
            .spawn()?;
        let ended = process.wait4()?;
        if !ended.status.success() {
            let message = format!("`layercake {}` failed", arguments.join(" "));
            return Err(io::Error::other(message));
        }
        let used = ended.rusage;
        Ok(Cost { time: used.utime + used.stime, peak: used.maxrss })
    }
}
