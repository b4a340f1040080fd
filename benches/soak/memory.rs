//! How much memory the process holds while it walks, and whether that grows.

/// What the process holds, in bytes; none where the system does not tell.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// So many samples make a line.
const ENOUGH: usize = 400;

/// What was held after which edit.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    samples: Vec<(usize, u64)>,
}

impl Samples {
    /// Adds what is held now, after so many edits.
    pub fn take(&mut self, edits: usize) {
        self.samples.extend(resident().map(|bytes| (edits, bytes)));
    }

    /// What was held after so many edits.
    pub fn after(&self, edits: usize) -> Option<u64> {
        self.samples.iter().find(|(at, _)| *at == edits).map(|(_, bytes)| *bytes)
    }

    /// The most that was held after `warm` edits or more.
    pub fn most_after(&self, warm: usize) -> Option<u64> {
        self.samples.iter().filter(|(at, _)| *at >= warm).map(|(_, bytes)| *bytes).max()
    }

    /// By how many bytes each edit after the first `warm` ones made the process
    /// grow: the slope of the line with the least squares. None where there are
    /// too few of them to tell growth from what comes and goes.
    pub fn growth(&self, warm: usize) -> Option<f64> {
        let points: Vec<(f64, f64)> = self
            .samples
            .iter()
            .filter(|(at, _)| *at >= warm)
            .map(|(at, bytes)| (*at as f64, *bytes as f64))
            .collect();
        if points.len() < ENOUGH {
            return None;
        }
        let count = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (middle, level) = (mean(&|it| it.0), mean(&|it| it.1));
        let along: f64 = points.iter().map(|it| (it.0 - middle) * (it.1 - level)).sum();
        let spread: f64 = points.iter().map(|it| (it.0 - middle).powi(2)).sum();
        Some(along / spread)
    }
}
