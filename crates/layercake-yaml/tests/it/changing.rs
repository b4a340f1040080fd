//! Changing a mapping that shares entries with another behaves like changing one that does not.

use std::sync::Arc;

use layercake_source::{FileId, Span};
use layercake_yaml::{Key, Mapping, Node, Value};
use layercake_yaml_testing::reading::check_cached_size;
use proptest::prelude::*;

/// Operation on a mapping; keys are small numbers, so that collisions are frequent.
#[derive(Clone, Debug)]
enum Step {
    /// Adds a second owner, which must not see later changes.
    Share,
    Insert(u8, i64),
    Replace(u8, i64),
    Change(u8, i64),
    ChangeAt(usize, i64),
    Remove(u8),
    Pop,
    Retain(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let (key, value) = (0..24u8, 0..1000i64);
    let both = (key.clone(), value.clone());
    prop_oneof![
        3 => Just(Step::Share),
        4 => both.clone().prop_map(|(key, value)| Step::Insert(key, value)),
        1 => both.clone().prop_map(|(key, value)| Step::Replace(key, value)),
        4 => both.prop_map(|(key, value)| Step::Change(key, value)),
        1 => (0..24usize, value).prop_map(|(at, value)| Step::ChangeAt(at, value)),
        1 => key.clone().prop_map(Step::Remove),
        1 => Just(Step::Pop),
        1 => key.prop_map(Step::Retain),
    ]
}

/// Entry: key, position of the key, and value.
type Entry = (String, u32, i64);

fn entries(mapping: &Mapping) -> Vec<Entry> {
    let entry = |(key, node): (&Key, &Node)| {
        let Value::Int(value) = node.value else {
            panic!("all values are integers")
        };
        (
            key.as_str().expect("all keys are strings").to_owned(),
            key.span.start,
            value,
        )
    };
    mapping.iter().map(entry).collect()
}

/// Applies a step to a plain list of entries.
fn model(list: &mut Vec<Entry>, step: &Step, at: u32) {
    let found = |list: &[Entry], key: u8| list.iter().position(|(own, ..)| *own == name(key));
    match *step {
        Step::Share => {}
        Step::Insert(key, value) | Step::Replace(key, value) => match found(list, key) {
            Some(here) => {
                list[here].2 = value;
                if let Step::Replace(..) = step {
                    list[here].1 = at;
                }
            }
            None => list.push((name(key), at, value)),
        },
        Step::Change(key, value) => {
            if let Some(here) = found(list, key) {
                list[here].2 = value;
            }
        }
        Step::ChangeAt(here, value) => {
            if let Some(entry) = list.get_mut(here) {
                entry.2 = value;
            }
        }
        Step::Remove(key) => {
            if let Some(here) = found(list, key) {
                list.remove(here);
            }
        }
        Step::Pop => drop(list.pop()),
        Step::Retain(key) => list.retain(|(own, ..)| *own != name(key)),
    }
}

fn change(mapping: &mut Mapping, step: &Step, at: u32) {
    let span = Span::point(FileId::default(), at);
    let node = |value| Node::new(Value::Int(value), span);
    match *step {
        Step::Share => {}
        Step::Insert(key, value) => drop(mapping.insert(Key::string(name(key), span), node(value))),
        Step::Replace(key, value) => {
            drop(mapping.replace(Key::string(name(key), span), node(value)));
        }
        Step::Change(key, value) => {
            if let Some(own) = mapping.get_mut(name(key).as_str()) {
                *own = node(value);
            }
        }
        Step::ChangeAt(here, value) => {
            if here < mapping.len() {
                *mapping.value_at_mut(here) = node(value);
            }
        }
        Step::Remove(key) => drop(mapping.remove(name(key).as_str())),
        Step::Pop => drop(mapping.pop()),
        Step::Retain(key) => mapping.retain(|own| own.as_str() != Some(&name(key))),
    }
}

fn name(key: u8) -> String {
    format!("key-{key}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A shared mapping behaves like a list of entries: it finds each entry by its key, knows its
    /// size, and other owners see no changes.
    #[test]
    fn sharing_is_unobservable(
        first in prop::collection::vec((0..24u8, 0..1000i64), 0..20),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let mut mapping = Arc::new(Mapping::new());
        let mut list = Vec::new();
        let mut shared: Vec<(Arc<Mapping>, Vec<Entry>)> = Vec::new();
        let inserts = first.into_iter().map(|(key, value)| Step::Insert(key, value));
        for (at, step) in inserts.chain(steps).enumerate() {
            if let Step::Share = step {
                shared.push((mapping.clone(), list.clone()));
            }
            model(&mut list, &step, at as u32);
            change(Mapping::to_change(&mut mapping), &step, at as u32);
            prop_assert_eq!(entries(&mapping), list.clone());
            prop_assert_eq!(mapping.len(), list.len());
            for key in 0..24 {
                let key = name(key);
                let found = mapping.get_entry(key.as_str());
                let expected = list.iter().find(|(own, ..)| *own == key);
                prop_assert_eq!(
                    found.map(|(key, node)| (key.span.start, node.value.clone())),
                    expected.map(|(_, at, value)| (*at, Value::Int(*value)))
                );
            }
            let root = Node::new(Value::Mapping(mapping.clone()), Span::point(FileId::default(), 0));
            check_cached_size(&root);
        }
        for (mapping, list) in shared {
            prop_assert_eq!(entries(&mapping), list);
        }
    }
}
