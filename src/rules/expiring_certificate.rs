//! `expiring-certificate`: a certificate expires soon.

use super::SiteFacts;
use super::certificates::{CertificateMark, mark};
use crate::diagnostic::Diagnostic;

super::rule!(
    "expiring-certificate", Warning, "certificate that expires soon";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    let all = certificates.certificates();
    for (at, certificate) in all.filter(|(_, it)| mark(facts, it) == CertificateMark::Expiring) {
        let name = certificates.name(facts, at, "certificate");
        let [_, end] = certificate.dates();
        let when = certificates.date(at, ", at", &end);
        let words = (format!("{name} expires soon{when}"), "expires soon");
        let finding = certificates.report(facts, &RULE, at, words);
        // The number of days is not in the message, which identifies the finding.
        let days = facts.settings.expiring_days;
        found.push(
            finding
                .note(format!("less than {days} days after the time of the check"))
                .help("issue a new certificate, and write it here"),
        );
    }
}
