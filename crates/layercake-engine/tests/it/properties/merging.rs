//! Laws of cloud-init merging: the explanation of a result agrees with the result, and a failed
//! merge changes nothing.

use std::sync::Arc;

use layercake_engine::merge::Strategy as Merging;
use layercake_engine::merge::cloud_init::{Default, Incoming, MergeRules, stack};
use layercake_engine_testing::{invalid_deletions, invalid_destinations, untrue};
use layercake_source::FileId;
use layercake_yaml::json::canonical;
use layercake_yaml::{Mapping, Node, Value, parse};
use layercake_yaml_testing::config;
use layercake_yaml_testing::reading::check_cached_size;
use layercake_yaml_testing::texts::data;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Parts of a configuration, each in its own file.
fn parts() -> impl Strategy<Value = Vec<Node>> {
    let list =
        prop::collection::vec(data(), 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
    let value = prop_oneof![3 => data(), 2 => list, 1 => Just("~".to_owned())];
    let part = (
        specification(),
        prop::collection::btree_map(key(), value, 0..4),
    );
    prop::collection::vec(part, 2..5).prop_map(|parts| {
        let read = (0..)
            .map(FileId::new)
            .zip(parts)
            .map(|(file, (specification, entries))| {
                let mut text = specification;
                text.extend(
                    entries
                        .iter()
                        .map(|(key, value)| format!("{key}: {value}\n")),
                );
                let text = if text.is_empty() {
                    "{}".to_owned()
                } else {
                    text
                };
                // Duplicate anchors make a part invalid.
                let mut parsed = parse(file, &text);
                if parsed.documents.is_empty() {
                    parsed = parse(file, "{}");
                }
                parsed.documents.remove(0).root
            });
        read.collect()
    })
}

fn key() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "x", "1", "on"])
}

/// Lines with the merge specification of a part; empty for the default.
fn specification() -> impl Strategy<Value = String> {
    let options = subsequence(
        vec![
            "append",
            "prepend",
            "replace",
            "no_replace",
            "recurse_dict",
            "recurse_list",
            "recurse_str",
            "allow_delete",
            "overwrite",
            "extend",
            "discard_non_list",
        ],
        0..6,
    );
    let class = (
        select(vec!["dict", "dict", "dict", "list", "list", "str"]),
        options,
    )
        .prop_map(|(class, options)| format!("{class}({})", options.join(",")));
    let classes = prop::collection::vec(class, 1..5);
    let key = select(vec!["merge_how", "merge_type"]);
    prop_oneof![
        1 => Just(String::new()),
        6 => (key, classes)
            .prop_map(|(key, classes)| format!("{key}: dict(recurse_list)+{}\n", classes.join("+"))),
        6 => (select(vec!["merge_how", "merge_type"]), prop::collection::vec(
            subsequence(vec!["dict", "list", "str"], 1..4), 1..2,
        )).prop_map(|(key, classes)| {
            format!("{key}: dict(recurse_list,recurse_str)+list(append,recurse_dict)+{}()\n", classes[0].join("()+"))
        }),
        3 => Just("merge_how: dict(recurse_list)+list(recurse_list,recurse_dict)\n".to_owned()),
        3 => Just("merge_how: dict(allow_delete,recurse_list)+list(prepend)+str(append)\n".to_owned()),
        1 => Just("merge_how: list(no_replace)+dict(recurse_list,recurse_str)+str(append)\n".to_owned()),
        1 => Just("merge_how: dict(\n".to_owned()),
    ]
}

/// Ways to merge the parts: the current defaults and those of 2013.
fn ways(parts: &[Node]) -> [Vec<Merging>; 3] {
    let current = |default| {
        let laying = MergeRules::Current {
            header: None,
            default,
        };
        vec![Merging::CloudInit(laying); parts.len()]
    };
    let incoming = parts.iter().map(|data| Incoming { data, header: None });
    let documented = stack(incoming)
        .into_iter()
        .map(Merging::CloudInit)
        .collect();
    [
        current(Default::UserData),
        current(Default::Many),
        documented,
    ]
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn explanation_agrees_with_the_result(parts in parts(), secret in any::<prop::sample::Index>()) {
        for ways in ways(&parts) {
            let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), parts[0].span);
            for (index, (merging, part)) in ways.iter().zip(&parts).enumerate() {
                let over = if secret.index(parts.len()) == index {
                    part.clone().into_secret()
                } else {
                    part.clone()
                };
                check_cached_size(&result);
                let base = result.clone();
                let before = format!("{base:?}");
                let laid = merging.merge(&mut result, &over);
                check_cached_size(&result);
                prop_assert_eq!(&format!("{base:?}"), &before, "shared data is unchanged");
                if laid.is_err() {
                    prop_assert_eq!(&format!("{result:?}"), &before, "a failed merge changes nothing");
                    continue;
                }
                let wrong = [
                    untrue(merging, &base, &over, &result),
                    invalid_deletions(&base, &over, &result),
                    invalid_destinations(merging, &base, &over, &result),
                ]
                .concat();
                prop_assert!(
                    wrong.is_empty(),
                    "{} with {} is {}:\n{}",
                    canonical(&base), canonical(&over), canonical(&result), wrong.join("\n")
                );
            }
        }
    }

    /// With the defaults of user-data, merging a part twice equals merging it once.
    #[test]
    fn default_merge_is_idempotent(parts in parts()) {
        let laying = MergeRules::Current { header: None, default: Default::UserData };
        let merging = Merging::CloudInit(laying);
        let [base, over, ..] = &parts[..] else { unreachable!("there are two parts") };
        let (mut once, mut over) = (base.clone(), over.clone());
        if let Value::Mapping(mapping) = &mut over.value {
            Arc::make_mut(mapping).retain(|key| !matches!(key.as_str(), Some("merge_how" | "merge_type")));
        }
        let over = &over;
        prop_assert!(merging.merge(&mut once, over).is_ok());
        let mut twice = once.clone();
        prop_assert!(merging.merge(&mut twice, over).is_ok());
        prop_assert_eq!(canonical(&once), canonical(&twice));
    }
}
