//! What checking a repository costs, stage by stage and as a whole process, at
//! 1, 10 and 50 times the size of treasuremap (`docs/performance.md`).
//!
//! `cargo bench` runs it. `cargo bench -- 1 10` measures these sizes only;
//! `cargo bench -- write FOLDER 10` writes the repository of a size and
//! measures nothing; `cargo bench -- at FOLDER` measures the stages of a
//! repository that is there.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::needless_for_each,
    clippy::print_stdout,
    clippy::struct_excessive_bools,
    unreachable_pub,
    reason = "a bench runs processes and prints their figures, which are ratios"
)]

mod generator;
mod processes;
mod stages;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn main() -> io::Result<()> {
    // `cargo bench` adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => measure(&[1, 10, 50]),
        [verb, folder, scale] if verb == "write" => {
            let size = generator::write(Path::new(folder), number(scale)?)?;
            println!("{} files, {} documents, {} bytes", size.files, size.documents, size.bytes);
            Ok(())
        }
        [verb, folder] if verb == "at" => {
            let (root, size) = (PathBuf::from(folder), generator::Size::default());
            stages::measure(&[Repository { scale: 1, root, size }]);
            Ok(())
        }
        scales => {
            measure(&scales.iter().map(|scale| number(scale)).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

fn number(text: &str) -> io::Result<usize> {
    text.parse().map_err(|_| io::Error::other(format!("`{text}` is no size")))
}

fn measure(scales: &[usize]) -> io::Result<()> {
    // A single thread, so that the time taken is the work done.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().map_err(io::Error::other)?;
    let folder = tempfile::tempdir()?;
    let mut repositories = Vec::new();
    for scale in scales {
        repositories.push(Repository::make(folder.path(), *scale)?);
    }
    // First, because a process starts with the peak memory of its parent.
    processes::measure(&repositories)?;
    stages::measure(&repositories);
    Ok(())
}

/// A generated repository.
struct Repository {
    scale: usize,
    root: PathBuf,
    size: generator::Size,
}

impl Repository {
    fn make(folder: &Path, scale: usize) -> io::Result<Self> {
        let root = folder.join(format!("times-{scale}"));
        std::fs::create_dir(&root)?;
        let size = generator::write(&root, scale)?;
        // As users have it; without git the files are listed by walking.
        for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
            let git = Command::new("git").arg("-C").arg(&root).args(arguments).output();
            if !git.is_ok_and(|output| output.status.success()) {
                println!(
                    "git failed or is not here: the repository of size {scale} is a plain folder"
                );
                break;
            }
        }
        Ok(Self { scale, root, size })
    }
}

/// The middle one, or the higher of the two in the middle.
fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
