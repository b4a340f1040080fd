//! `unused-conf-d`: `conf.d` files that `cloud.cfg` disables.

use super::SetFacts;
use crate::diagnostic::Diagnostic;
use crate::system::cloud_init::{ConfD, SourceKind};

super::super::rule!(
    "unused-conf-d", Warning, "`conf.d` files that `cloud.cfg` disables";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let by = match facts.set.conf_d() {
        ConfD::Off(at) => at,
        ConfD::Read | ConfD::NoText(..) => return,
    };
    let mut sources = facts
        .set
        .sources
        .iter()
        .filter(|it| it.kind == SourceKind::ConfD);
    let Some(first) = sources.find_map(|source| source.parts().next()) else {
        return;
    };
    let message = format!("the files of `conf.d` in `{}` are not read", facts.set.name);
    let finding = RULE
        .finding(message, by, "disabled here")
        .related(facts.facts.first_line(first.at), "one of them")
        .note("an empty `conf_d` in `cloud.cfg` disables the folder `conf.d`")
        .help("remove `conf_d` to use `cloud.cfg.d`, or remove `conf-d` from the set");
    found.push(finding);
}
