//! `expired-certificate`: a certificate is not valid at the time of the check.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;

super::rule!(
    "expired-certificate", Error, "certificate that has expired, or is not valid yet";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let Some(time) = facts.settings.time else {
        return;
    };
    let certificates = facts.certificates();
    for (at, certificate) in certificates.certificates() {
        let name = certificates.name(facts, at, "certificate");
        let is_secret = certificates.is_secret(at);
        let [start, end] = certificate.validity();
        let words = if certificate.is_expired(time) {
            let end = if is_secret {
                String::new()
            } else {
                format!(" at {end}")
            };
            (format!("{name} expired{end}"), "expired")
        } else if certificate.is_not_yet_valid(time) {
            let start = if is_secret {
                String::new()
            } else {
                format!(" until {start}")
            };
            (format!("{name} is not valid{start} yet"), "not valid yet")
        } else {
            continue;
        };
        let finding = certificates.report(facts, &RULE, at, words);
        let finding = if is_secret {
            finding.note(HIDDEN)
        } else {
            finding
        };
        found.push(finding.help("issue a new certificate, and write it here"));
    }
}

/// Reason why a date is not shown.
pub(super) const HIDDEN: &str = "the date is not shown: the document is not public";
