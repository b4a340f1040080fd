//! Certificates of the largest public site repository.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::screens::clone;
use crate::cli::Sandbox;

/// Counts of certificates, and number of findings by rule, at a time in some sites.
fn judged(sandbox: &Sandbox, arguments: &[&str]) -> (Json, BTreeMap<String, usize>) {
    let lint = ["lint", "-o", "json", "--select", "certificates"];
    let report = sandbox.run(&[&lint, arguments].concat()).json();
    let mut rules = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let rule = finding["rule"].as_str().unwrap().to_owned();
        *rules.entry(rule).or_default() += 1;
    }
    (report["certificates"].clone(), rules)
}

fn counts(time: &str, checked: usize, expired: usize) -> Json {
    json!({
        "time": time, "checked": checked, "expired": expired, "not_yet_valid": 0, "expiring": 0,
        "unreadable": 0, "encrypted": 0, "unverified": 0,
    })
}

#[test]
#[ignore = "needs the recorded corpus"]
fn all_certificates_are_checked_and_the_expired_ones_found() {
    let sandbox = clone();
    let (found, rules) = judged(&sandbox, &["--now", "2026-11-28"]);
    assert_eq!(found, counts("2026-11-28", 158, 143));
    // All keys and authorities belong to their certificates.
    assert_eq!(rules, [("expired-certificate".to_owned(), 143)].into());
}

/// There is no day on which the certificates of all sites were valid.
#[test]
#[ignore = "needs the recorded corpus"]
fn nothing_is_found_on_a_day_on_which_all_of_a_site_were_valid() {
    let sandbox = clone();
    for (site, day, checked) in [
        ("airskiff", "2019-03-01", 42),
        ("seaworthy-virt", "2023-06-01", 40),
        ("airsloop", "2024-06-01", 34),
    ] {
        let (found, rules) = judged(&sandbox, &["--now", day, "--site", site]);
        assert_eq!(found, counts(day, checked, 0), "{site}");
        assert_eq!(rules, BTreeMap::new(), "{site}");
    }
}
