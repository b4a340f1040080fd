//! Edits of the layers, the sites and their types.

use super::super::Text;
use super::super::text::with_value;
use super::workshop::{Changed, Workshop};

const DEFINITION: &str = "/site-definition.yaml";

/// Reorders, adds or removes layers.
pub fn policy(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let picked = workshop.pick(|root| {
        let schema = root.get("schema").and_then(layercake::yaml::Node::as_str);
        schema.is_some_and(|schema| schema.starts_with("deckhand/LayeringPolicy"))
    })?;
    let order = workshop.random.word(&[
        "[global, type, site]",
        "[global, type, site, none]",
        "[global, site, type]",
        "[global, site]",
        "[none, global, type, site]",
    ]);
    picked.set(&["data", "layerOrder"], order)
}

pub fn site_type(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let types = below(workshop, "type/");
    let site_type = workshop.random.of(&types)?.clone();
    let picked = workshop.pick(|root| {
        root.get("data")
            .is_some_and(|data| data.get("site_type").is_some())
    })?;
    let node = picked.at(&["data", "site_type"])?;
    Some(picked.become_text(with_value(&picked.text, node, &site_type)))
}

/// Folders below that of a layer.
fn below(workshop: &Workshop<'_>, layer: &str) -> Vec<String> {
    let names = workshop
        .files
        .keys()
        .filter_map(|path| path.strip_prefix(layer)?.split_once('/'));
    let mut names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
    names.dedup();
    names
}

/// Copies all files of a site; the definition may keep the name of the original.
pub fn site_copied(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let sites = below(workshop, "site/");
    // The number of sites is limited, since each costs as much as any other.
    if sites.len() > 8 {
        return None;
    }
    let site = workshop.random.of(&sites)?.clone();
    let new = format!("copied-{}", workshop.random.below(1000));
    let files = workshop.files.iter().filter_map(|(path, text)| {
        let inside = path
            .strip_prefix("site/")?
            .strip_prefix(&*site)?
            .strip_prefix('/')?;
        let is_definition = path.ends_with(DEFINITION);
        let text = if is_definition {
            text.replace(&site, &new).into()
        } else {
            text.clone()
        };
        Some((Text::from(format!("site/{new}/{inside}")), Some(text)))
    });
    Some(files.collect())
}

pub fn site_removed(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let sites = below(workshop, "site/");
    if sites.len() < 3 {
        return None;
    }
    // Removes the site, or only its definition.
    let what = if workshop.random.in_hundred(50) {
        "/"
    } else {
        DEFINITION
    };
    let start = format!("site/{}{what}", workshop.random.of(&sites)?);
    let removed = workshop
        .files
        .keys()
        .filter(|path| path.starts_with(&start));
    Some(removed.map(|path| (path.clone(), None)).collect())
}
