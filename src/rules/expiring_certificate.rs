//! `expiring-certificate`: a certificate expires soon.

use super::SiteFacts;
use super::expired_certificate::HIDDEN;
use crate::diagnostic::Diagnostic;

super::rule!(
    "expiring-certificate", Warning, "certificate that expires soon";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let Some(time) = facts.settings.time else {
        return;
    };
    let days = facts.settings.expiring_days;
    let certificates = facts.certificates();
    let expiring = certificates
        .certificates()
        .filter(|(_, it)| !it.is_expired(time) && it.is_expired(time.plus_days(days)));
    for (at, certificate) in expiring {
        let name = certificates.name(facts, at, "certificate");
        let [_, end] = certificate.validity();
        let is_secret = certificates.is_secret(at);
        let when = if is_secret {
            "soon".to_owned()
        } else {
            format!("at {end}")
        };
        // The number of days is not in the message, which identifies the finding.
        let finding = certificates
            .report(
                facts,
                &RULE,
                at,
                (format!("{name} expires {when}"), "expires soon"),
            )
            .note(format!("less than {days} days after {time}"))
            .help("issue a new certificate, and write it here");
        found.push(if is_secret {
            finding.note(HIDDEN)
        } else {
            finding
        });
    }
}
