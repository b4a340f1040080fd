//! `lost-keys`: lists, mappings and keys of one part or source that another replaces as a whole.

use std::collections::HashSet;

use super::lost_value::is_specification;
use super::merged_document::MergedDocument;
use crate::diagnostic::{Diagnostic, Severity};
use crate::merge::cloud_init::{Class, Dialect, Fact, Notice, Replaced, lost_items};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::path::Location;

super::super::rule!(
    "lost-keys",
    Warning,
    "list, mapping or key of a cloud-init part or source that another replaces"
);

/// Maximum number of places named in a help text, and of further locations of a lost list.
const MAX_NAMED: usize = 8;

/// Specification that joins lists.
const JOINING: &str = "merge_how: dict(recurse_list)+list(append)";

/// Specification that joins lists, and uses new strings.
const JOINING_WITH_STRINGS: &str = "merge_how: dict(recurse_list,recurse_str)+list(append)+str()";

/// Keys of the schemas of cloud-init's modules: properties of all `cc_*` definitions in
/// `schema-cloud-config-v1.json` of cloud-init 26.2.
const MODULE_KEYS: &str = "\
    allow_public_ssh_keys ansible apk_repos apt apt_pipelining apt_reboot_if_required apt_update \
    apt_upgrade authkey_hash autoinstall bootcmd byobu_by_default ca-certs ca_certs chef chpasswd \
    create_hostname_file device_aliases disable_ec2_metadata disable_root disable_root_opts \
    disk_setup drivers fan final_message fqdn fs_setup groups growpart grub-dpkg grub_dpkg \
    hostname keyboard landscape locale locale_configfile lxd manage_etc_hosts manage_resolv_conf \
    mcollective mount_default_fields mounts no_ssh_fingerprints ntp package_reboot_if_required \
    package_update package_upgrade packages password phone_home power_state \
    prefer_fqdn_over_hostname preserve_hostname puppet random_seed resize_rootfs resolv_conf \
    rh_subscription rpi rsyslog runcmd salt_minion snap spacewalk ssh ssh_authorized_keys \
    ssh_deletekeys ssh_fp_console_blacklist ssh_genkeytypes ssh_import_id \
    ssh_key_console_blacklist ssh_keys ssh_publish_hostkeys ssh_pwauth ssh_quiet_keygen swap \
    timezone ubuntu_advantage ubuntu_pro updates user users vendor_data wireguard write_files \
    yum_repo_dir yum_repos zypper";

/// Finding for a value that the output lacks, or lacks in part; `None` if another rule reports it.
pub(super) fn report(
    merged: &MergedDocument<'_>,
    notice: &Notice,
    joining: &Joining,
) -> Option<Diagnostic> {
    let lost = notice.lost.as_ref()?;
    match merged.dialect {
        Dialect::Current => {}
        Dialect::Documented => return None,
    }
    // A part without `dict` is lost as a whole, which other rules report.
    if notice.place.is_root() || is_specification(&notice.place) {
        return None;
    }
    let shown = merged.shown(&notice.place).filter(|_| !notice.secret);
    let what = shown
        .as_ref()
        .map_or("a list or key".to_owned(), |place| format!("`{place}`"));
    let loss = Loss::of(merged, notice);
    let message = format!("{what} of {} is lost: {}", loss.loser, loss.reason());
    let finding = RULE
        .finding(message, loss.overriding, "overrides the lost value")
        .related(merged.facts.first_line(loss.losing), "lost")
        .note(explanation(merged))
        .help(help(merged, notice, &loss, joining))
        .about(shown.unwrap_or_default());
    let elsewhere = items_elsewhere(merged, notice, lost).into_iter();
    let finding = elsewhere.fold(finding, |finding, at| {
        finding.related(merged.facts.first_line(at), "lost")
    });
    if !merged.set.is_undecided || merged.asked.is_some() {
        return Some(Diagnostic {
            severity: Severity::Note,
            ..finding
        });
    }
    Some(Diagnostic {
        severity: if is_of_module(&notice.place) {
            Severity::Error
        } else {
            Severity::Warning
        },
        ..finding.note(
            "no dialect is chosen: with `dialect: current` in `layercake.yaml`, or with \
             `--dialect current`, this is a note",
        )
    })
}

/// The two sides of a loss.
struct Loss {
    /// Part or source of the lost value.
    loser: String,
    /// Part or source of the other value.
    winner: String,
    /// Whether the other value was there first, and was kept.
    is_kept: bool,
    /// Key or first line of the other value.
    overriding: Span,
    /// Key or first line of the lost value.
    losing: Span,
}

impl Loss {
    fn of(merged: &MergedDocument<'_>, notice: &Notice) -> Self {
        let is_kept = matches!(notice.fact, Fact::Lost(_));
        let earlier = match merged.part {
            None => merged.source_of(notice.old.file),
            Some(_) if merged.is_lower() => "a file of higher priority",
            Some(_) => "an earlier part",
        };
        let later = match merged.part {
            None => merged.name().to_owned(),
            Some(part) if is_kept => format!("`{}`", part.key.name),
            Some(_) if merged.is_lower() => "this file".to_owned(),
            Some(_) => "this part".to_owned(),
        };
        let over = merged.at(&notice.place, notice.at);
        if is_kept {
            return Self {
                loser: later,
                winner: earlier.to_owned(),
                is_kept,
                overriding: merged.first_at(&notice.place, notice.old),
                losing: over,
            };
        }
        let around = notice.place.parent();
        Self {
            loser: earlier.to_owned(),
            winner: later,
            is_kept,
            // The new mapping does not have the key.
            overriding: around
                .filter(|_| notice.fact == Fact::Replaced(Replaced::Key))
                .map_or(over, |around| merged.at(&around, notice.at)),
            losing: notice.old,
        }
    }

    fn reason(&self) -> String {
        let verb = if self.is_kept { "has" } else { "replaces" };
        format!("{} {verb} it", self.winner)
    }
}

/// Lost items of a list in other files than its key, the first of each file.
fn items_elsewhere(merged: &MergedDocument<'_>, notice: &Notice, lost: &Node) -> Vec<Span> {
    let missing = match merged.output.and_then(|output| notice.place.get(output)) {
        Some(kept) => lost_items(kept, lost),
        None => lost.as_sequence().unwrap_or_default().to_vec(),
    };
    let mut files = HashSet::from([notice.old.file, notice.at.file]);
    missing
        .iter()
        .filter(|item| files.insert(item.span.file))
        .map(|item| item.span)
        .take(MAX_NAMED)
        .collect()
}

/// Whether a module of cloud-init has the top-level key of this place.
fn is_of_module(place: &Location) -> bool {
    place
        .first_key()
        .is_some_and(|key| MODULE_KEYS.split(' ').any(|known| known == key))
}

fn explanation(merged: &MergedDocument<'_>) -> &'static str {
    match merged.part {
        _ if merged.asked.is_some() => "a merge specification decides this, not a default",
        Some(_) if merged.is_lower() => {
            "when files are combined, only mappings are merged: any other value of higher priority \
             replaces one of lower priority as a whole"
        }
        Some(_) => {
            "a part without a merge specification replaces each top-level key of earlier parts as \
             a whole"
        }
        None => {
            "when sources are combined, only mappings are merged: any other value of higher \
             priority replaces one of lower priority as a whole"
        }
    }
}

/// The specification that keeps both values, or the place to move one of them to.
fn help(merged: &MergedDocument<'_>, notice: &Notice, loss: &Loss, joining: &Joining) -> String {
    let Loss { loser, winner, .. } = loss;
    let Joining { line, staying } = joining;
    match (merged.part, merged.asked.is_some()) {
        _ if !can_be_merged(notice) => "no `merge_how` keeps both, because their types differ: \
                                        give both the same type, or remove one of them"
            .to_owned(),
        (None, _) => format!(
            "to keep both, move the keys of {loser} into a further part of {winner} with \
             `{JOINING}`: `merge_how` does not apply across sources"
        ),
        (Some(_), true) => format!("write `{line}` to keep both{staying}"),
        (Some(_), false) if merged.is_lower() => format!(
            "add `{line}` to {loser} to keep both; write `merge_how: dict(no_replace)` if this is \
             intended"
        ),
        (Some(_), false) => format!(
            "add `{line}` to this part to keep both{staying}; write `merge_how: dict(replace)` if \
             this is intended"
        ),
    }
}

/// Whether a merge class keeps the content of both values.
fn can_be_merged(notice: &Notice) -> bool {
    let is_list = |lost: &Node| lost.as_sequence().is_some();
    match notice.fact {
        Fact::Replaced(Replaced::Items | Replaced::Key) => true,
        Fact::Lost(_) => {
            notice.old_class == Some(Class::List) && notice.lost.as_ref().is_some_and(is_list)
        }
        Fact::Replaced(Replaced::Type | Replaced::Text | Replaced::Other)
        | Fact::Displaced(_)
        | Fact::NullWithoutDelete(_)
        | Fact::OtherLength { .. }
        | Fact::SplitInto(_)
        | Fact::Further { .. } => false,
    }
}

/// Specification with which a part loses no list, mapping or key.
pub(super) struct Joining {
    line: &'static str,
    /// Old values that are kept as well then, because no class merges them.
    staying: String,
}

impl Joining {
    /// By all effects of merging the part.
    pub(super) fn of(merged: &MergedDocument<'_>, effects: &[&Notice]) -> Self {
        let replaced = |wanted| {
            let effects = effects.iter();
            effects.filter(move |effect| effect.fact == Fact::Replaced(wanted))
        };
        let names: Option<Vec<String>> = replaced(Replaced::Other)
            .map(|other| {
                let place = merged.shown(&other.place).filter(|_| !other.secret)?;
                Some(format!("`{place}`"))
            })
            .collect();
        let line = match replaced(Replaced::Text).next() {
            Some(_) => JOINING_WITH_STRINGS,
            None => JOINING,
        };
        let names = names.unwrap_or_else(|| vec!["a value".to_owned()]);
        Self {
            line,
            staying: format_staying(&names),
        }
    }
}

fn format_staying(names: &[String]) -> String {
    let (listed, more) = names.split_at(names.len().min(MAX_NAMED));
    let verb = if names.len() == 1 { "is" } else { "are" };
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match listed {
        [] => String::new(),
        listed => format!(
            "; {}{more} of the earlier part {verb} then kept as well, unless you remove it there",
            listed.join(", ")
        ),
    }
}
