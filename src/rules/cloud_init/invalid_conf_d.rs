//! `invalid-conf-d`: `conf_d` in `cloud.cfg` that is not a string.

use super::SetFacts;
use crate::diagnostic::Diagnostic;
use crate::system::cloud_init::ConfD;

super::super::rule!(
    "invalid-conf-d", Error, "`conf_d` in `cloud.cfg` that is not the name of a folder";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let (at, kind) = match facts.set.conf_d() {
        ConfD::Read | ConfD::Off(_) => return,
        ConfD::NoText(at, kind) => (at, kind),
    };
    let message = format!("`conf_d` is {kind}, not the name of a folder");
    let finding = RULE
        .finding(message, at, "expected a string")
        .note("cloud-init fails when it reads this")
        .help("set it to one folder, or remove it to use `cloud.cfg.d`");
    found.push(finding);
}
