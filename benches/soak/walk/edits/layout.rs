//! Edits of what the layers are, and which sites there are of which type.

use super::super::Text;
use super::super::text::with_value;
use super::workshop::{Changed, Workshop};

const DEFINITION: &str = "/site-definition.yaml";

/// The layers in another order, or one more or less.
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
    let picked = workshop
        .pick(|root| root.get("data").is_some_and(|data| data.get("site_type").is_some()))?;
    let node = picked.at(&["data", "site_type"])?;
    Some(picked.become_text(with_value(&picked.text, node, &site_type)))
}

/// The folders below a layer's.
fn below(workshop: &Workshop<'_>, layer: &str) -> Vec<String> {
    let names = workshop.files.keys().filter_map(|path| path.strip_prefix(layer)?.split_once('/'));
    let mut names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
    names.dedup();
    names
}

/// A site with all files of another; its definition may still say that one's
/// name.
pub fn site_copied(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let sites = below(workshop, "site/");
    // Few of them, for each costs as much as all the others do.
    if sites.len() > 8 {
        return None;
    }
    let site = workshop.random.of(&sites)?.clone();
    let new = format!("copied-{}", workshop.random.below(1000));
    let files = workshop.files.iter().filter_map(|(path, text)| {
        let inside = path.strip_prefix("site/")?.strip_prefix(&*site)?.strip_prefix('/')?;
        let is_definition = path.ends_with(DEFINITION);
        let text = if is_definition { text.replace(&site, &new).into() } else { text.clone() };
        Some((Text::from(format!("site/{new}/{inside}")), Some(text)))
    });
    Some(files.collect())
}

pub fn site_removed(workshop: &mut Workshop<'_>) -> Option<Changed> {
    let sites = below(workshop, "site/");
    if sites.len() < 3 {
        return None;
    }
    // The site, or its definition alone.
    let what = if workshop.random.in_hundred(50) { "/" } else { DEFINITION };
    let start = format!("site/{}{what}", workshop.random.of(&sites)?);
    let gone = workshop.files.keys().filter(|path| path.starts_with(&start));
    Some(gone.map(|path| (path.clone(), None)).collect())
}
