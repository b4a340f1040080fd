//! `cloud-init/merge.json` and `stacks.json`: a list, mapping or key is reported as lost if and only
//! if the result that was recorded from cloud-init lacks it, and the specification that a finding
//! suggests keeps it.

use std::collections::{BTreeMap, HashMap, HashSet};

use layercake::diagnostic::{Diagnostic, Severity};
use layercake::merge::deckhand::Semantics;
use layercake::system::cloud_init::SourceKind;
use layercake::system::cloud_init::part::PartKind;
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Key, Mapping, Node, Value};
use rayon::prelude::*;
use serde_json::Value as Json;

use super::CaseOrigin;
use super::cloud_init_pipeline::{MERGE, STACKS, recorded_result, tree_of};
use super::exceptions::cloud_init_exception;
use crate::support;

#[test]
fn lost_keys_are_those_that_cloud_init_loses() {
    compare_all(CaseOrigin::Repository, STACKS, 640);
    compare_all(CaseOrigin::Repository, MERGE, 3700);
}

#[test]
#[ignore = "needs the recorded corpus"]
fn lost_keys_of_the_corpus_are_those_that_cloud_init_loses() {
    compare_all(CaseOrigin::Corpus, MERGE, 0);
}

fn compare_all(origin: CaseOrigin, file: &str, least: usize) {
    let cases = origin.cases(file);
    let compared: Vec<(usize, Vec<String>)> = cases
        .par_iter()
        .filter(|case| cloud_init_exception(case).is_none())
        .filter_map(|case| compare(case, &recorded_result(&case["expected"])?))
        .collect();
    let lost: usize = compared.iter().map(|(lost, _)| lost).sum();
    let wrong: Vec<&String> = compared.iter().flat_map(|(_, wrong)| wrong).collect();
    eprintln!("{file}: {} cases, {lost} lost places", compared.len());
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    origin.assert_at_least(least, compared.len());
}

/// Number of lost places of a case, with those that are not reported and those that are reported
/// wrongly; `None` if a part is lost as a whole.
fn compare(case: &Json, result: &Node) -> Option<(usize, Vec<String>)> {
    let checked = Checked::of(case)?;
    let parts = checked.parts.iter();
    let lost: HashSet<Location> = parts.flat_map(|(_, part)| missing(part, result)).collect();
    let meets = |one: &Location, other: &Location| one.starts_with(other) || other.starts_with(one);
    let is_reported = |lost: &Location| checked.reported.iter().any(|it| meets(&it.place, lost));
    let unreported = lost
        .iter()
        .filter(|lost| !is_reported(lost) && !is_changed_otherwise(case, &checked.parts, lost))
        .map(|place| format!("{}: `{place}` is lost and not reported", case["id"]));
    let kept = checked
        .reported
        .iter()
        .filter(|it| it.is_lost_keys && !lost.iter().any(|lost| meets(&it.place, lost)))
        .map(|it| format!("{}: `{}` is reported and not lost", case["id"], it.place));
    Some((lost.len(), unreported.chain(kept).collect()))
}

/// Whether a part may delete the value at a place by a null, or join strings that are items of lists.
fn is_changed_otherwise(case: &Json, parts: &[(SourceKind, Node)], place: &Location) -> bool {
    let text = case.to_string().to_lowercase();
    let has = |word: &str| text.contains(word);
    let has_null = |part: &Node| {
        let prefixes = (1..=place.0.len()).map(|count| Location(place.0[..count].to_vec()));
        let mut values = prefixes.filter_map(|prefix| prefix.get(part));
        values.any(Node::is_null) || place.get(part).is_some_and(has_null_item)
    };
    let has_list = |part: &Node| place.get(part).is_some_and(|it| it.as_sequence().is_some());
    has("delete") && parts.iter().any(|(_, part)| has_null(part))
        || has("recurse_str") && has("append") && parts.iter().any(|(_, part)| has_list(part))
}

/// Whether a list has a mapping with a null in it.
fn has_null_item(node: &Node) -> bool {
    let mut items = node.as_sequence().into_iter().flatten();
    items.any(|item| {
        let mut entries = item.as_mapping().into_iter().flat_map(Mapping::iter);
        entries.any(|(_, value)| value.is_null())
    })
}

/// The suggested line is added to the parts; what it is to keep is then in the merged result.
#[test]
fn suggested_specification_keeps_what_was_lost() {
    let cases = CaseOrigin::Repository.cases(STACKS);
    let outcomes: Vec<(usize, Vec<String>)> = cases.par_iter().filter_map(apply).collect();
    let count: usize = outcomes.iter().map(|(count, _)| count).sum();
    let wrong: Vec<&String> = outcomes.iter().flat_map(|(_, wrong)| wrong).collect();
    eprintln!("{STACKS}: {count} places with a suggested specification");
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(count > 500, "only {count} places");
}

/// Number of places that suggested specifications are to keep, with those that are lost.
///
/// A later part can lose a value that an earlier part keeps then; that loss has its own finding.
fn apply(case: &Json) -> Option<(usize, Vec<String>)> {
    let mut changed = case.clone();
    let mut checked = Checked::of(case)?;
    let parts = checked.parts.clone();
    let mut to_keep = HashSet::new();
    let mut not_kept = HashSet::new();
    loop {
        let mut specified = BTreeMap::new();
        for it in &checked.reported {
            let at = (source_of(&it.document), it.place.clone());
            match &it.specification {
                Some(line) => {
                    to_keep.insert(at);
                    specified.insert(&it.document, line);
                }
                None => {
                    not_kept.insert(at);
                }
            }
            let staying = it.staying.iter().cloned();
            not_kept.extend(staying.map(|place| (source_of(&it.document), place)));
        }
        if specified.is_empty() {
            break;
        }
        for (document, line) in specified {
            specify(&mut changed, document, line);
        }
        checked = Checked::of(&changed)?;
    }
    let kept: HashSet<_> = to_keep.difference(&not_kept).collect();
    let lost = parts.iter().flat_map(|(source, part)| {
        let missing = missing(part, &checked.merged[source]).into_iter();
        missing.map(|place| (*source, place))
    });
    let wrong = lost.filter(|lost| kept.contains(lost));
    let wrong = wrong.map(|(_, place)| format!("{}: `{place}`: {changed}", case["id"]));
    Some((kept.len(), wrong.collect()))
}

/// The keys of a source become a further part of the source that overrides them, as suggested.
#[test]
fn keys_moved_to_the_overriding_source_are_kept() {
    let cases = CaseOrigin::Repository.cases(STACKS);
    let outcomes: Vec<(usize, Vec<String>)> = cases.par_iter().filter_map(move_keys).collect();
    let count: usize = outcomes.iter().map(|(count, _)| count).sum();
    let wrong: Vec<&String> = outcomes.iter().flat_map(|(_, wrong)| wrong).collect();
    eprintln!("{STACKS}: {count} places that are moved");
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(count > 200, "only {count} places");
}

/// Number of places that are kept if the keys of all sources are moved into user-data, with those
/// that are lost.
fn move_keys(case: &Json) -> Option<(usize, Vec<String>)> {
    let checked = Checked::of(case)?;
    let reported = checked.reported.iter();
    let moved: Vec<&ReportedLoss> = reported.filter(|it| it.is_to_move).collect();
    let mut changed = case.clone();
    for source in ["vendor2", "vendor"] {
        let parts = changed[source].take();
        for mut part in parts.as_array().cloned().unwrap_or_default() {
            part["value"]["merge_how"] = "dict(recurse_list)+list(append)".into();
            changed["user"].as_array_mut()?.push(part);
        }
    }
    let moving = Checked::of(&changed)?;
    let lost: HashSet<Location> = checked
        .parts
        .iter()
        .filter(|(source, _)| matches!(source, SourceKind::VendorData | SourceKind::VendorData2))
        .flat_map(|(_, part)| missing(part, &moving.merged[&SourceKind::UserData]))
        .collect();
    let is_other = |place: &Location| {
        let mut others = checked.reported.iter().chain(&moving.reported);
        others.any(|it| it.place == *place && !it.is_to_move)
    };
    let wrong = moved
        .iter()
        .filter(|it| lost.contains(&it.place) && !is_other(&it.place));
    let wrong = wrong.map(|it| format!("{}: `{}`: {changed}", case["id"], it.place));
    Some((moved.len(), wrong.collect()))
}

/// Writes a merge specification into the part of a document.
fn specify(case: &mut Json, document: &str, specification: &str) {
    let (path, _) = document.split_once('#').unwrap_or((document, ""));
    let part = match path.split_once('/') {
        Some(("conf.d", file)) => return specify_in(&mut case["files"][file], specification),
        Some((source, number)) => &mut case[source][number.parse::<usize>().expect("a number")],
        None => return specify_in(&mut case["base"], specification),
    };
    part["value"]["merge_how"] = specification.into();
}

fn specify_in(text: &mut Json, specification: &str) {
    let read = text.as_str().expect("a file is recorded as text");
    let mut value: Json = serde_yaml::from_str(read).expect("the file is YAML");
    value["merge_how"] = specification.into();
    *text = value.to_string().into();
}

/// A case, merged and checked.
struct Checked {
    /// Data of all parts.
    parts: Vec<(SourceKind, Node)>,
    /// Merged parts of each source.
    merged: HashMap<SourceKind, Node>,
    reported: Vec<ReportedLoss>,
}

/// A finding about a place in a part.
struct ReportedLoss {
    document: String,
    place: Location,
    is_lost_keys: bool,
    /// Whether it suggests to move keys of vendor-data into user-data.
    is_to_move: bool,
    /// Specification that it suggests.
    specification: Option<String>,
    /// Places at which that specification keeps the earlier value.
    staying: Vec<Location>,
}

impl Checked {
    /// `None` if a part is lost as a whole, or is not merged as a mapping.
    fn of(case: &Json) -> Option<Self> {
        let options = support::options(Semantics::Documented);
        let tree = tree_of(case, "current");
        let mut checked = support::check_files(&tree, options, |site| {
            let mut parts = Vec::new();
            let mut merged = HashMap::new();
            for (doc, member) in site.sets.iter() {
                match (member.part, member.source.map(without_base)) {
                    (Some(part), Some(source)) => {
                        let is_mapping = matches!(part.kind, PartKind::CloudConfig);
                        let name = part.key.name.to_string();
                        parts.push(is_mapping.then(|| (name, source, part.data.clone()))?);
                    }
                    (None, Some(source)) => {
                        merged.insert(source, site.rendered.data(doc)?.clone());
                    }
                    (_, None) => {}
                }
            }
            Some((parts, merged))
        });
        let site = checked.sites.pop().expect("files without layout are a set");
        let (parts, merged) = site.taken.flatten()?;
        let mut places = HashMap::new();
        for (_, _, part) in &parts {
            collect_places(part, &mut Location::root(), &mut places);
        }
        let findings = checked.findings.diagnostics;
        let has_source_lost = findings
            .iter()
            .any(|it| it.rule.name == "leaking-specification");
        let lost_in: HashSet<String> = findings
            .iter()
            .filter(|it| is_about_whole_part(it))
            .map(|it| checked.sources.get(it.primary.span.file).path().to_string())
            .collect();
        // A header is in the file around its part, or its parts.
        let file_of = |part: &str| part.split('#').next().unwrap_or(part).to_owned();
        let is_unknown = |file: &String| {
            let of_file = parts.iter().filter(|(part, ..)| file_of(part) == *file);
            of_file.count() > 1
        };
        if lost_in.iter().any(is_unknown) {
            return None;
        }
        let is_lost = |part: &str| lost_in.contains(part) || lost_in.contains(&file_of(part));
        let merged_parts = parts.into_iter().filter(|(name, ..)| !is_lost(name));
        let parts: Vec<_> = merged_parts
            .map(|(_, source, data)| (source, data))
            .collect();
        (!has_source_lost).then(|| Self {
            parts,
            merged,
            reported: findings
                .iter()
                .filter_map(|it| ReportedLoss::of(it, &places))
                .collect(),
        })
    }
}

impl ReportedLoss {
    fn of(finding: &Diagnostic, places: &HashMap<String, Location>) -> Option<Self> {
        let is_lost_keys = finding.rule.name == "lost-keys";
        let help = finding.help.as_deref().filter(|_| is_lost_keys);
        let suggested = help.and_then(|help| {
            let after = help
                .strip_prefix("add `")
                .or(help.strip_prefix("write `"))?;
            after.strip_prefix("merge_how: ")?.split_once('`')
        });
        let staying = suggested.map_or("", |(_, after)| after);
        let is_to_move = help.is_some_and(|help| {
            help.starts_with("to keep both, move the keys of vendor-data")
                && help.contains("into a further part of user-data with")
        });
        Some(Self {
            document: finding.documents.first()?.name.to_string(),
            place: places_in(&finding.message, places).next()?,
            is_lost_keys,
            is_to_move,
            specification: suggested.map(|(line, _)| line.to_owned()),
            staying: places_in(staying, places).collect(),
        })
    }
}

/// Whether a finding reports that a part or source is lost as a whole.
fn is_about_whole_part(finding: &Diagnostic) -> bool {
    const RULES: [&str; 3] = ["dropped-part", "unmerged-part", "unused-vendor-data"];
    finding.severity == Severity::Error || RULES.contains(&finding.rule.name)
}

/// `cloud.cfg` is merged into the result of `conf.d`.
fn without_base(source: SourceKind) -> SourceKind {
    match source {
        SourceKind::Base => SourceKind::ConfD,
        SourceKind::UserData
        | SourceKind::VendorData2
        | SourceKind::VendorData
        | SourceKind::ConfD => source,
    }
}

/// Source of a document of a case.
fn source_of(document: &str) -> SourceKind {
    match document.split('/').next() {
        Some("user") => SourceKind::UserData,
        Some("vendor") => SourceKind::VendorData,
        Some("vendor2") => SourceKind::VendorData2,
        _ => SourceKind::ConfD,
    }
}

/// Collects the locations of all keys by their form in messages.
fn collect_places(data: &Node, here: &mut Location, places: &mut HashMap<String, Location>) {
    for (key, node) in data.as_mapping().into_iter().flat_map(Mapping::iter) {
        here.0.push(Piece::Key(key.clone()));
        places.insert(here.to_string(), here.clone());
        collect_places(node, here, places);
        here.0.pop();
    }
}

/// The quoted places in a text, each up to an item of a list.
fn places_in<'t>(
    text: &'t str,
    places: &'t HashMap<String, Location>,
) -> impl Iterator<Item = Location> + 't {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|quoted| {
        let enclosing = places.iter().filter(|(known, _)| {
            let rest = quoted.strip_prefix(known.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        });
        let longest = enclosing.max_by_key(|(known, _)| known.len());
        longest.map(|(_, location)| location.clone())
    })
}

/// Places of keys that a result lacks, and of lists and mappings in a part of which it lacks an item
/// or has another type.
fn missing(part: &Node, result: &Node) -> HashSet<Location> {
    let mut lost = HashSet::new();
    collect_missing(part, result, &mut Location::root(), &mut lost);
    lost
}

fn collect_missing(data: &Node, result: &Node, here: &mut Location, lost: &mut HashSet<Location>) {
    let is_specification = |key: &Key| matches!(key.as_str(), Some("merge_how" | "merge_type"));
    let is_lost = match (&data.value, &result.value) {
        (Value::Mapping(data), Value::Mapping(result)) => {
            for (key, node) in data.iter() {
                if here.is_root() && is_specification(key) {
                    continue;
                }
                here.0.push(Piece::Key(key.clone()));
                match result.get(key) {
                    Some(kept) => collect_missing(node, kept, here, lost),
                    None => {
                        lost.insert(here.clone());
                    }
                }
                here.0.pop();
            }
            false
        }
        (Value::Mapping(data), _) => !data.is_empty(),
        (Value::Sequence(items), Value::Sequence(kept)) => !items
            .iter()
            .all(|item| kept.iter().any(|it| it.value.equals_in_python(&item.value))),
        (Value::Sequence(items), _) => !items.is_empty(),
        _ => false,
    };
    if is_lost {
        lost.insert(here.clone());
    }
}
