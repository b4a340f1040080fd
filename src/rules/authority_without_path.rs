//! `authority-without-path`: an authority that cannot sign, or has no path to a self-signed one.

use super::SiteFacts;
use super::certificates::PathProblem;
use crate::diagnostic::Diagnostic;
use crate::system::deckhand::catalog::AUTHORITY;

super::rule!(
    "authority-without-path",
    Warning,
    "authority that may not sign certificates, or has no path to a self-signed one";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let certificates = facts.certificates();
    let all = certificates.certificates();
    for placed in all.filter(|(at, _)| certificates.is_of(facts, *at, &AUTHORITY)) {
        let Some(problem) = certificates.path_problem(facts, placed) else {
            continue;
        };
        let (at, _) = placed;
        let name = certificates.name(facts, at, "certificate");
        let finding =
            |message: String, label: &str| certificates.report(facts, &RULE, at, (message, label));
        found.push(match problem {
            PathProblem::NotAnAuthority => finding(
                format!("{name} is not that of an authority"),
                "may not sign certificates",
            )
            .note("its extensions do not allow it to sign certificates: `CA:TRUE`, and `keyCertSign` if it limits the use of its key")
            .help("issue it as the certificate of an authority"),
            PathProblem::MissingIssuer => finding(
                format!("{name} has no path to a self-signed certificate"),
                "issued by another authority",
            )
            .note("no certificate of the site has the name of its issuer")
            .help("write the certificate of its issuer into this document or another one of the site"),
            PathProblem::TooLong { above, allowed } => {
                let of = certificates.name(facts, above, "certificate");
                finding(
                    format!("{name} is too far below {of}"),
                    "its certificates are refused",
                )
                .related(certificates.line(facts, above), "limits the authorities below it")
                .note(format!("its path length constraint is {allowed}"))
                .help("issue the upper certificate with a larger path length constraint")
            }
        });
    }
}
