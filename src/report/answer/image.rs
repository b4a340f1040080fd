//! References to container images, as `docker.io/library/redis:7` (grammar: `distribution/reference`).

use std::sync::LazyLock;

use regex::Regex;

use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Value};

/// Parts of a reference: a host with its port, a name there, a tag, and a digest as `ALGORITHM:HEX`.
pub(crate) const PARTS: [&str; 4] = ["registry", "repository", "tag", "digest"];

/// Registry of a reference without one.
const DEFAULT_REGISTRY: &str = "docker.io";

/// Each group is a part. The first component of a path is a registry if it looks like a host.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x) ^
        (?: ( localhost (?: :[0-9]+ )? | [a-zA-Z0-9-]+ :[0-9]+ | [a-zA-Z0-9-]* \. [a-zA-Z0-9.-]* (?: :[0-9]+ )? ) / )?
        ( [a-z0-9] (?: [a-z0-9._-]* [a-z0-9] )? (?: / [a-z0-9] (?: [a-z0-9._-]* [a-z0-9] )? )* )
        (?: : ( [a-zA-Z0-9_] [a-zA-Z0-9_.-]{0,127} ) )?
        (?: @ ( [^:]+ : [a-fA-F0-9]{32,} ) )? $";
    Regex::new(pattern).expect("the pattern is valid")
});

/// The whole reference that a value is, and its parts. A value is a string, or a mapping with
/// `repository` and `tag`, as charts have it; a single word is not taken for a reference.
pub(crate) fn reference(node: &Node) -> Option<(String, [Option<String>; 4])> {
    let text = match &node.value {
        Value::String(text) => text.to_string(),
        Value::Mapping(_) => {
            let repository = node.get("repository")?.as_str()?;
            // YAML reads a tag such as 1.5 as a number.
            format!("{repository}:{}", scalar_text(&node.get("tag")?.value))
        }
        _ => return None,
    };
    if !text.contains(['/', ':', '@']) {
        return None;
    }
    let found = REFERENCE.captures(&text)?;
    let mut parts = [1, 2, 3, 4].map(|at| found.get(at).map(|part| part.as_str().to_owned()));
    let whole = match &parts[0] {
        Some(_) => text,
        None => format!("{DEFAULT_REGISTRY}/{text}"),
    };
    parts[0].get_or_insert_with(|| DEFAULT_REGISTRY.to_owned());
    Some((whole, parts))
}

/// A change of an image; for another tag, with the common part once.
pub(in crate::report) fn changed(base: &str, head: &str) -> String {
    match (base.rsplit_once(':'), head.rsplit_once(':')) {
        (Some((repository, before)), Some((other, after))) if repository == other => {
            format!("{repository}: {before} → {after}")
        }
        _ => format!("{base} → {head}"),
    }
}
