//! Environment variables of git (git(1)): honoured as in git, or refused by name.
//! `docs/comparing.md` lists them.

use std::ffi::OsString;

use crate::error::Error;

/// Value of a variable, if it is set.
pub(super) fn value(name: &str) -> Option<OsString> {
    gix::path::env::var(name)
}

/// Variables that change the objects, references or attributes that git reads, and that gix does
/// not honour as git does.
const UNSUPPORTED: &[&str] = &[
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_ATTR_SOURCE",
    "GIT_IMPLICIT_WORK_TREE",
];

/// Refuses variables that would make git's results differ from layercake's.
///
/// # Errors
/// If such a variable is set.
pub(super) fn refuse_unsupported() -> Result<(), Error> {
    let found = UNSUPPORTED
        .iter()
        .filter(|name| value(name).is_some_and(|value| !value.is_empty()))
        .find(|name| !is_of_quarantine(name));
    let Some(name) = found else { return Ok(()) };
    let message =
        format!("the environment variable `{name}` is set, which layercake does not support");
    let help = format!("unset it: `env -u {name} layercake ...`");
    Err(Error::git(message).with_help(help))
}

/// Whether git sets this variable for a hook that can still refuse a push; missing objects then
/// have their own error (`cure::is_quarantined`).
fn is_of_quarantine(name: &str) -> bool {
    let objects = matches!(
        name,
        "GIT_OBJECT_DIRECTORY" | "GIT_ALTERNATE_OBJECT_DIRECTORIES"
    );
    objects && value("GIT_QUARANTINE_PATH").is_some()
}

/// Settings of `git -c KEY=VALUE`, which git passes to hooks and aliases in
/// `GIT_CONFIG_PARAMETERS`; gix does not read it.
///
/// # Errors
/// If the value of the variable is malformed.
pub(super) fn given_settings() -> Result<Vec<String>, Error> {
    let Some(value) = value("GIT_CONFIG_PARAMETERS") else {
        return Ok(Vec::new());
    };
    let settings = value.to_str().and_then(quoted_settings);
    settings.ok_or_else(|| {
        let message = "cannot parse the environment variable `GIT_CONFIG_PARAMETERS`";
        let help = "unset it; git sets it for its child processes";
        Error::git(message).with_help(help)
    })
}

/// Parses a list of settings such as `'core.a'='b' 'core.c=d'`; `None` if it is malformed.
fn quoted_settings(text: &str) -> Option<Vec<String>> {
    let mut settings = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (mut setting, after) = unquoted(rest)?;
        rest = after;
        if let Some(after) = rest.strip_prefix('=') {
            let (value, after) = if after.starts_with('\'') {
                unquoted(after)?
            } else {
                (String::new(), after)
            };
            setting = format!("{setting}={value}");
            rest = after;
        }
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        settings.push(setting);
        rest = rest.trim_start();
    }
    Some(settings)
}

/// Unquotes a shell word `'...'`, with `\'` and `\!` between quotes, and returns it with the rest.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let (quoted, after) = rest.split_once('\'')?;
        word.push_str(quoted);
        let Some((escaped, again)) = after
            .strip_prefix('\\')
            .and_then(|it| it.split_at_checked(1))
        else {
            return Some((word, after));
        };
        if !matches!(escaped, "'" | "!") {
            return None;
        }
        word.push_str(escaped);
        rest = again.strip_prefix('\'')?;
    }
}
