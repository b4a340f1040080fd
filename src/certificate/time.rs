//! The time at which certificates must be valid.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use x509_cert::der::DateTime;

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// Time at which certificates must be valid: an instant, or any instant of a day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime {
    /// First and last second, since 1970.
    first: u64,
    last: u64,
}

impl CheckTime {
    /// The day that contains a time.
    pub fn day_of(time: SystemTime) -> Self {
        let seconds = time
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Self::day(seconds - seconds % SECONDS_OF_DAY)
    }

    fn day(first: u64) -> Self {
        let last = first + SECONDS_OF_DAY - 1;
        Self { first, last }
    }

    /// The time `days` later.
    pub(crate) fn plus_days(self, days: usize) -> Self {
        let later = u64::try_from(days).unwrap_or(u64::MAX);
        let later = later.saturating_mul(SECONDS_OF_DAY);
        Self {
            first: self.first.saturating_add(later),
            last: self.last.saturating_add(later),
        }
    }

    pub(crate) fn is_after(self, seconds: u64) -> bool {
        self.first > seconds
    }

    pub(crate) fn is_before(self, seconds: u64) -> bool {
        self.last < seconds
    }
}

impl fmt::Display for CheckTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format(self.first);
        let is_day = self.first < self.last;
        out.write_str(text.split('T').next().filter(|_| is_day).unwrap_or(&text))
    }
}

/// A time in UTC, as in RFC 3339.
pub(super) fn format(seconds: u64) -> String {
    DateTime::from_unix_duration(Duration::from_secs(seconds))
        .map_or_else(|_| "the year 9999".to_owned(), |time| time.to_string())
}

impl FromStr for CheckTime {
    type Err = String;

    /// Parses a date, or a date and time, of RFC 3339.
    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = |text: &str| {
            let time: Timestamp = text.parse().ok()?;
            u64::try_from(time.as_second()).ok()
        };
        match (seconds(&format!("{text}T00:00:00Z")), seconds(text)) {
            (Some(midnight), _) => Ok(Self::day(midnight)),
            (None, Some(at)) => Ok(Self {
                first: at,
                last: at,
            }),
            (None, None) => Err(
                "expected a date, such as 2026-11-30, or a date and time, such as 2026-11-30T12:00:00Z"
                    .to_owned(),
            ),
        }
    }
}
