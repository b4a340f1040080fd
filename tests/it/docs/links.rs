//! Links between pages lead somewhere, to the heading too.

use std::collections::BTreeMap;
use std::fs;

use super::{pages, root};

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        for link in links(&text) {
            if link.starts_with("https://") {
                continue;
            }
            let (target, anchor) = match link.split_once('#') {
                Some((target, anchor)) => (target, Some(anchor)),
                None => (link.as_str(), None),
            };
            let there = match target {
                "" => page.clone(),
                _ => page.parent().unwrap().join(target),
            };
            let is_heading = |anchor: &str| {
                fs::read_to_string(&there)
                    .is_ok_and(|text| anchors(&text).contains(&anchor.to_owned()))
            };
            if !there.exists() || anchor.is_some_and(|anchor| !is_heading(anchor)) {
                let page = page.strip_prefix(root()).unwrap();
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose.split("](").skip(1);
    ends.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// The names of a page's headings in links, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let named = headings.map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        let name: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 { format!("{name}-{}", *count - 1) } else { name }
    });
    named.collect()
}

/// A page without its fenced blocks.
fn prose(text: &str) -> String {
    let mut is_inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !is_inside && !is_fence {
            kept += &format!("{line}\n");
        }
        is_inside ^= is_fence;
    }
    kept
}

#[test]
fn headings_have_the_names_that_links_use() {
    let page = "# One `lint --auto`, two\n```sh\n# no heading\n```\n## Same\n## Same\n[a](b#c)\n";
    assert_eq!(anchors(page), ["one-lint---auto-two", "same", "same-1"]);
    assert_eq!(links(page), ["b#c"]);
}
