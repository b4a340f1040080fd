//! `unused-conf-d`: files of `conf.d` that `cloud.cfg` turns off.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::system::cloud_init::{ConfD, SourceKind};

super::super::rule!(
    "unused-conf-d", Warning, "files of `conf.d` that `cloud.cfg` turns off";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let by = match facts.set.conf_d() {
        ConfD::Off(at) => at,
        ConfD::Read | ConfD::NoText(..) => return,
    };
    let mut sources = facts.set.sources.iter().filter(|it| it.kind == SourceKind::ConfD);
    let Some(first) = sources.find_map(|source| source.parts().next()) else { return };
    let message = format!("the files of `conf.d` in `{}` are not read", facts.set.name);
    let finding = Diagnostic::new(&RULE, message, Label::new(by, "this turns them off"))
        .related(facts.facts.first_line(first.at), "one of them")
        .note("an empty `conf_d` in `cloud.cfg` means that there is no folder `conf.d`")
        .help("leave `conf_d` out: then it is `cloud.cfg.d`; or take `conf-d` out of the set");
    found.push(finding);
}
