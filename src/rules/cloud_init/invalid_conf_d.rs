//! `invalid-conf-d`: a `conf_d` of `cloud.cfg` that is no text.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::system::cloud_init::ConfD;

super::super::rule!(
    "invalid-conf-d", Error, "a `conf_d` of `cloud.cfg` that names no folder";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let (at, kind) = match facts.set.conf_d() {
        ConfD::Read | ConfD::Off(_) => return,
        ConfD::NoText(at, kind) => (at, kind),
    };
    let message = format!("`conf_d` is {kind}, and not the name of a folder");
    let finding = Diagnostic::new(&RULE, message, Label::new(at, "no text"))
        .note("cloud-init ends with an error where it reads this")
        .help("name one folder, or leave `conf_d` out: then it is `cloud.cfg.d`");
    found.push(finding);
}
