//! `unreadable-certificate`: a certificate or private key that cannot be read.

use super::SiteFacts;
use crate::certificate::Item;
use crate::diagnostic::Diagnostic;

super::rule!(
    "unreadable-certificate", Warning, "certificate or private key that cannot be read";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    for at in certificates.places() {
        let what = match certificates.item(at) {
            Item::UnreadableCertificate => "certificate",
            Item::UnreadableKey => "private key",
            Item::Certificate(_) | Item::Key(_) | Item::EncryptedKey => continue,
        };
        let message = format!("{} cannot be read", certificates.name(facts, at, what));
        let finding = certificates.report(facts, &RULE, at, (message, "damaged"));
        found.push(finding.help("write all lines of the PEM block, from BEGIN to END"));
    }
    for doc in &certificates.empty {
        let document = facts.document(*doc);
        let name = facts.name(*doc);
        let message = format!("`{name}` contains no certificate");
        let at = document.data_key.unwrap_or(document.name_span);
        found.push(
            RULE.finding(message, at, "no block of PEM")
                .help("write a PEM block, from `-----BEGIN CERTIFICATE-----` to its END")
                .document(&document.key),
        );
    }
}
