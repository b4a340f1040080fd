//! Paths: syntax, matching and writing.

use std::sync::Arc;

use jsonpath_rust::JsonPath;
use layercake_source::Span;
use layercake_yaml::path::{
    ListWrite, Location, MAX_INDEX, MAX_PIECES, MIN_VISITS, Path, PathErrorKind, PathWrite, Piece,
    Segment, WalkError,
};
use layercake_yaml::{Key, Mapping, Node, Origin, Value};
use layercake_yaml_testing::reading::check_cached_size;
use layercake_yaml_testing::values::{here, node, of};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A second span, to distinguish who wrote a node.
fn elsewhere() -> Span {
    Span::point(here().file, 99)
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn finds(text: &str, data: &Json, expected: Json) {
    let data = of(data.clone());
    let found = path(text)
        .find(&data)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let found: Vec<Node> = found
        .into_iter()
        .map(|found| found.node.into_owned())
        .collect();
    assert_eq!(node(Value::from(found)), of(expected), "{text}");
}

#[track_caller]
fn writes(text: &str, data: Json, value: Json, expected: Json) {
    let mut data = of(data);
    path(text)
        .write(&mut data, &of(value), ListWrite::Popped, here())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(data, of(expected), "{text}");
}

/// Error of a write that leaves all data unchanged.
#[track_caller]
fn refuses(text: &str, data: Json, value: Json) -> WalkError {
    let before = of(data);
    let mut data = before.clone();
    let error = path(text)
        .write(&mut data, &of(value), ListWrite::Popped, here())
        .unwrap_err();
    assert_eq!(data, before, "{text}");
    error
}

#[test]
fn text_is_a_path_or_an_error_with_a_position() {
    use PathErrorKind::*;
    let token = |text: &str| UnexpectedToken(text.into());
    for (text, at, kind) in [
        ("", 0, UnexpectedEnd),
        (".a.", 3, UnexpectedEnd),
        ("...", 2, token(".")),
        ("$$", 1, token("$")),
        (".a[", 3, UnexpectedEnd),
        (".a[]", 3, token("]")),
        (".a[1", 4, UnexpectedEnd),
        (".a[1,", 5, UnexpectedEnd),
        (".a[1:2:3:4]", 8, token(":")),
        (".a[b:]", 4, token(":")),
        (".1a", 2, token("a")),
        (".a b", 3, token("b")),
        (".a.where", 3, token("where")),
        (".a/b", 2, UnexpectedCharacter('/')),
        (".a[?(@.b)]", 3, UnexpectedCharacter('?')),
        (".é", 1, UnexpectedCharacter('é')),
        (".-a", 1, UnexpectedCharacter('-')),
        (".a\r", 2, UnexpectedCharacter('\r')),
        (".'a", 1, UnclosedQuote('\'')),
        (".'a\\\nb'", 3, UnexpectedCharacter('\\')),
        (".`len`", 1, UnknownOperator("len".into())),
        ("(.a)", 1, token(".")),
        ("(a", 2, UnexpectedEnd),
        ("a)", 1, token(")")),
        (".a~", 2, token("~")),
        (".*,a", 2, token(",")),
        (".a, 'b", 4, UnclosedQuote('\'')),
    ] {
        let error = Path::parse(text).unwrap_err();
        assert_eq!((error.at, &error.kind), (at, &kind), "{text}");
        assert!(!error.to_string().contains('\n'), "{text}");
    }
}

#[test]
fn plain_paths_have_segments() {
    let name = |text: &str| Segment::Name(text.into());
    for (text, segments) in [
        (".", vec![]),
        ("$", vec![]),
        (".a", vec![name("a")]),
        ("a.b-c", vec![name("a"), name("b-c")]),
        (
            "$.a[0].b[-1]",
            vec![name("a"), Segment::Index(0), name("b"), Segment::Index(-1)],
        ),
        (" .'x.y' ", vec![]),
        (
            ".'x.y'.\"z\"['k'].007",
            vec![name("x.y"), name("z"), name("k"), name("7")],
        ),
        (".[99999999999999999999]", vec![Segment::Index(i64::MAX)]),
    ] {
        match Path::parse(text) {
            Ok(path) => {
                assert_eq!(path.segments(), Some(&segments[..]), "{text}");
                assert_eq!(path.is_root(), segments.is_empty(), "{text}");
                assert_eq!(path.to_string(), text);
            }
            // Only a dot at the very front is short for `$.`.
            Err(_) => assert_eq!(text, " .'x.y' "),
        }
    }
    for text in [
        "..a", ".*", ".a,b", ".a[0,1]", ".a[*]", ".a|b", ".`this`", ".a.(b.c)", ".$",
    ] {
        assert_eq!(path(text).segments(), None, "{text}");
        assert!(!path(text).is_root(), "{text}");
    }
}

/// Paths of bare names are parsed without the grammar; with a trailing space they are not, and
/// have the same meaning.
#[test]
fn bare_names_agree_with_the_grammar() {
    let pieces = [
        "", "a", "a-b", "_1", "@", "\u{4E00}", "where", "wherenot", "1", "-", "*", "'a'", "a b",
    ];
    let two = pieces
        .iter()
        .flat_map(|one| pieces.map(|other| format!(".{one}.{other}")));
    // A single dot is the root.
    let one = pieces[1..].iter().map(|one| format!(".{one}"));
    let long = [MAX_PIECES, MAX_PIECES + 1].map(|pieces| ".a".repeat(pieces));
    let read = |text: &str| Some(Path::parse(text).ok()?.segments()?.to_vec());
    let mut plain = 0;
    for text in one.chain(two).chain(long) {
        let segments = read(&text);
        assert_eq!(segments, read(&format!("{text} ")), "{text}");
        plain += usize::from(segments.is_some());
    }
    assert_eq!(plain, 7 + 49 + 1, "plain paths");
}

#[test]
fn operators_bind_as_in_the_reference() {
    let data = json!({"m": {"p": {"q": 1}, "r": {"q": 2}, "l": [3, 4]}, "p": 5});
    finds("$.m.p|r", &data, json!([{"q": 1}, {"q": 2}]));
    finds("$.m.p|r.q", &data, json!([1, 2]));
    finds("$..p.q", &data, json!([1]));
    finds("$.m.l[0]", &data, json!([3]));
    finds("$..l[0,-1]", &data, json!([3, 4]));
    finds("$.m.* where q", &data, json!([{"q": 1}, {"q": 2}]));
    finds("$.m.* wherenot q", &data, json!([[3, 4]]));
    finds("$.m.p.`parent`.r.q", &data, json!([2]));
    finds("$.m.p.q.$.p", &data, json!([5]));
    finds("$.m.p,r.q", &data, json!([1, 2]));
    finds("$.m.p.`parent`.`parent`.`parent`.q", &data, json!([]));
}

#[test]
fn slice_treats_other_values_as_a_list() {
    finds("$.a[*]", &json!({"a": {"b": 1}}), json!([{"b": 1}]));
    finds("$.a[*].b", &json!({"a": {"b": 1}}), json!([1]));
    finds("$.a[*]", &json!({"a": null}), json!([]));
    finds("$.a[::-2]", &json!({"a": [1, 2, 3]}), json!([3, 1]));
    finds("$.a[-2:]", &json!({"a": [1, 2, 3]}), json!([2, 3]));
    finds("$.a[1]", &json!({"a": "xyz"}), json!(["y"]));
    finds("$.a[1]", &json!({"a": {"b": 1}}), json!([]));
}

#[test]
fn character_of_a_secret_is_secret() {
    let mut data = of(json!({"a": "xyz"}));
    *path(".a")
        .first(&data)
        .unwrap()
        .unwrap()
        .location
        .get_mut(&mut data.clone())
        .unwrap() = node(Value::Null);
    data = data.into_secret();
    let found = path(".a[0]").first(&data).unwrap().unwrap();
    assert!(found.node.secret && found.node.origin == Origin::Derived);
    assert_eq!(found.location.get(&data), None);
}

#[test]
fn every_error_has_its_variant() {
    let refused = |text: &str, data: Json| path(text).find(&of(data)).unwrap_err();
    let list = json!({"a": [1, 2]});
    assert_eq!(
        refused(".a[-3]", list.clone()),
        WalkError::BeforeStart {
            index: -3,
            length: 2
        }
    );
    assert_eq!(
        refused(".[0]", list.clone()),
        WalkError::IndexIntoMapping { index: 0 }
    );
    assert_eq!(
        refused(".a[0][0]", list.clone()),
        WalkError::IndexInto { kind: "an integer" }
    );
    assert_eq!(refused(".a[::0]", list.clone()), WalkError::ZeroStep);
    assert_eq!(refused(".`parent`", list.clone()), WalkError::NoParent);
    assert_eq!(
        refused(".a&b", list.clone()),
        WalkError::UnsupportedOperator("&")
    );

    let written = |text: &str, value: Json| refuses(text, list.clone(), value);
    assert_eq!(
        written(".a|b", json!(1)),
        WalkError::UnsupportedOperator("|")
    );
    assert_eq!(
        written(".a.`parent`", json!(1)),
        WalkError::UnsupportedOperator("parent")
    );
    assert_eq!(written(".a[0]", json!([])), WalkError::OutOfElements);
    assert_eq!(written(".a[0,1]", json!([7])), WalkError::OutOfElements);
    assert_eq!(written("a", json!(1)), WalkError::NotRooted);
    assert_eq!(written("$['a']", json!(1)), WalkError::NotRooted);
    assert_eq!(written(".'x.y'", json!(1)), WalkError::NotCreatable);
    assert_eq!(written(".['k']", json!(1)), WalkError::NotCreatable);
    assert_eq!(written(".b[0][1]", json!(1)), WalkError::NotCreatable);
    assert_eq!(written(".'b'[0]", json!(1)), WalkError::NotCreatable);
    assert_eq!(
        written("$..a", json!({"x": {"a": 1}})),
        WalkError::EndlessDescent
    );
    let index = MAX_INDEX + 1;
    assert_eq!(
        written(".b[100001]", json!(1)),
        WalkError::IndexTooLarge { index }
    );
    let at = Location(vec![Piece::Key(Key::string("a", here()))]);
    assert_eq!(
        written(".a.x", json!(1)),
        WalkError::CreateThrough { at, kind: "a list" }
    );
}

#[test]
fn lists_are_popped_or_stored_whole() {
    let two = json!({"a": [1, 2]});
    writes(".a[0]", two.clone(), json!([7, 8]), json!({"a": [7, 2]}));
    writes(".a[0,1]", two.clone(), json!([7, 8]), json!({"a": [7, 8]}));
    writes(".a[*]", two.clone(), json!([7, 8]), json!({"a": [7, 8]}));
    writes(".a", two.clone(), json!([7, 8]), json!({"a": [7, 8]}));
    let mut data = of(two);
    path(".a[0]")
        .update(&mut data, &of(json!([7, 8])), ListWrite::Whole)
        .unwrap();
    assert_eq!(data, of(json!({"a": [[7, 8], 2]})));
}

#[test]
fn missing_values_are_created_as_the_path_is_written() {
    writes(".a.b", json!({}), json!(1), json!({"a": {"b": 1}}));
    writes(
        ".a[2].b",
        json!({}),
        json!(1),
        json!({"a": [{}, {}, {"b": 1}]}),
    );
    writes(".a[1]", json!({"a": [5]}), json!(1), json!({"a": [5, 1]}));
    writes(".'k'", json!({}), json!(1), json!({"k": 1}));
    writes(".*.b", json!({}), json!(1), json!({"*": {"b": 1}}));
    writes("$..b", json!({}), json!(1), json!({"": {"b": 1}}));
    writes(".", json!({"a": 1}), json!(5), json!(5));
    writes("$.$", json!({"a": 1}), json!(5), json!({"a": 1}));
}

#[test]
fn creation_returns_the_first_new_place() {
    let mut data = of(json!({"a": [1], "b": {}}));
    let text = |created: Option<Location>| created.map(|place| place.to_string());
    let created = path(".b.c.d").create(&mut data, elsewhere()).unwrap();
    assert_eq!(text(created).as_deref(), Some(".b.c"));
    let made = path(".b.c.d")
        .first(&data)
        .unwrap()
        .unwrap()
        .node
        .into_owned();
    assert_eq!(made.origin, Origin::Made);
    assert_eq!(made.span, elsewhere());
    let created = path(".a[3]").create(&mut data, elsewhere()).unwrap();
    assert_eq!(text(created).as_deref(), Some(".a[3]"));
    assert_eq!(
        data,
        of(json!({"a": [1, {}, {}, {}], "b": {"c": {"d": {}}}}))
    );
    let created = path(".a[3]").create(&mut data, elsewhere()).unwrap();
    assert_eq!(text(created), None);
}

#[test]
fn overwritten_key_keeps_its_place_and_span() {
    let mut data = of(json!({"a": 1, "b": 2}));
    let value = Node::new(Value::Int(9), elsewhere());
    let written = path(".a")
        .update(&mut data, &value, ListWrite::Popped)
        .unwrap();
    let (key, value) = data.as_mapping().unwrap().iter().next().unwrap();
    assert_eq!(
        (key.as_str(), key.span, value.span),
        (Some("a"), here(), elsewhere())
    );
    assert_eq!(written[0].to_string(), ".a");
}

#[test]
fn locations_round_trip_through_text() {
    let data = of(json!({
        "a b": [{"it's": 1}], "1": {"x\\y": 2, "": 0}, "where": [[3]], "plain-name": {"a.b": 4},
    }));
    for found in path("$..*").find(&data).unwrap() {
        let text = found.location.to_string();
        let again = path(&text).first(&data).unwrap().expect("leads somewhere");
        assert_eq!(again.location, found.location, "{text}");
    }
    let place = path(".'a b'[0].\"it's\"")
        .first(&data)
        .unwrap()
        .unwrap()
        .location;
    assert_eq!(place.to_string(), r".'a b'[0].'it\'s'");
    assert_eq!(place.parent().unwrap().to_string(), ".'a b'[0]");
    assert!(place.starts_with(&place.parent().unwrap()));
    assert_eq!(Location::root().to_string(), ".");

    let odd = Key {
        value: Value::Bool(true),
        span: here(),
    };
    let mut data = node(Value::Mapping(Arc::new(
        [(odd.clone(), of(json!([1, 2])))]
            .into_iter()
            .collect::<Mapping>(),
    )));
    let place = Location(vec![Piece::Key(odd), Piece::Index(0)]);
    assert_eq!(place.to_string(), ".true[0]");
    assert_eq!(place.remove(&mut data), Some(of(json!(1))));
    assert_eq!(place.get(&data), Some(&of(json!(2))));
    assert_eq!(Location::root().remove(&mut data), None);
}

#[test]
fn hostile_paths_end_in_errors() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    // Parentheses alone add no nesting.
    assert!(
        Path::parse(&deep("(", "a", ")", 100_000))
            .unwrap()
            .segments()
            .is_some()
    );
    let kind = |text: &str| Path::parse(text).unwrap_err().kind;
    assert_eq!(kind(&"(".repeat(1_000_000)), PathErrorKind::UnexpectedEnd);
    assert_eq!(kind(&deep("a|(", "a", ")", 500)), PathErrorKind::TooDeep);
    assert_eq!(kind(&deep("a.(", "a", ")", 500)), PathErrorKind::TooDeep);
    assert_eq!(kind(&".a".repeat(1_001)), PathErrorKind::TooLong);
    assert_eq!(kind(&"..a".repeat(1_001)), PathErrorKind::TooDeep);
    assert_eq!(
        kind(&format!(".a{}", ",a".repeat(2_000))),
        PathErrorKind::TooLong
    );
    assert_eq!(
        kind(&format!(".a[{}]", "9".repeat(5_000))),
        PathErrorKind::TooLong
    );
    assert!(Path::parse(&".a".repeat(1_000)).is_ok());
}

#[test]
fn hostile_walks_end_in_errors() {
    let mut chain = of(json!(1));
    for _ in 0..250 {
        let entry = (Key::string("a", here()), chain);
        chain = node(Value::Mapping(Arc::new([entry].into_iter().collect())));
    }
    assert_eq!(path("$..a").find(&chain).unwrap().len(), 250);
    let product = path("$..*..*..*..*").find(&chain).unwrap_err();
    assert_eq!(product, WalkError::TooManyVisits { limit: MIN_VISITS });
    assert_eq!(
        product.to_string(),
        "the path visits more than 100000 locations to find its matches"
    );
    let nested = path(&format!("{}x{}", "$..(".repeat(90), ")".repeat(90)));
    assert_eq!(nested.find(&of(json!([]))), Ok(Vec::new()));
    let written = nested.update(&mut of(json!([])), &of(json!(1)), ListWrite::Popped);
    assert_eq!(written, Ok(Vec::new()));
    for text in ["$..a", "$..*", "$..[*]", "($..a)..a", "$..($..a)"] {
        let value = of(json!({"a": {"b": [1, {"a": 2}]}, "c": 1}));
        let error = path(text)
            .update(&mut chain.clone(), &value, ListWrite::Popped)
            .unwrap_err();
        assert!(
            matches!(
                error,
                WalkError::EndlessDescent | WalkError::TooManyVisits { .. }
            ),
            "{text}: {error}"
        );
    }
}

/// Data with the keys `a` to `c`, and lists.
fn data() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (0..9).prop_map(Json::from),
        "[a-c]{0,2}".prop_map(Json::from)
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::hash_map("[a-c]", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn plain_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![3 => "[.][a-d]", 1 => "[.][a-d]\\[[0-2]\\]"];
    prop::collection::vec(step, 1..5).prop_map(|steps| steps.concat())
}

fn any_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        4 => "[.][a-d]",
        1 => "\\[(-[12]|[0-2])\\]",
        3 => prop::sample::select(vec![
            ".*", "[*]", "..a", "..*", "[0:1]", ".a,b", ".(a|b)", ".`this`", ".`parent`", ".$",
            " where a", "..(a.b)", "[0,1]", ".a|b", "..[0]",
        ])
        .prop_map(String::from),
    ];
    (
        prop::sample::select(vec!["$", ".a"]),
        prop::collection::vec(step, 1..5),
    )
        .prop_map(|(start, steps)| format!("{start}{}", steps.concat()))
}

/// Spans of the keys in a location.
fn key_spans(place: &Location) -> Vec<Option<Span>> {
    let span = |piece: &Piece| match piece {
        Piece::Key(key) => Some(key.span),
        Piece::Index(_) => None,
    };
    place.0.iter().map(span).collect()
}

/// Locations of all nodes, with what only a write may change: the identity of collections, and the
/// value of scalars.
fn parts(data: &Node) -> Vec<(Location, Span, Result<usize, Value>)> {
    let mut waiting = vec![(Location::root(), data)];
    let mut parts = Vec::new();
    while let Some((place, node)) = waiting.pop() {
        let identity = match &node.value {
            Value::Mapping(mapping) => {
                let below = mapping.iter();
                waiting
                    .extend(below.map(|(key, node)| (place.join(Piece::Key(key.clone())), node)));
                Ok(Arc::as_ptr(mapping).addr())
            }
            Value::Sequence(items) => {
                let below = items.iter().enumerate();
                waiting.extend(below.map(|(at, node)| (place.join(Piece::Index(at)), node)));
                Ok(Arc::as_ptr(items).addr())
            }
            scalar => Err(scalar.clone()),
        };
        parts.push((place, node.span, identity));
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_parses_or_fails_with_a_position(text in r#"[$.a-c0-2*,:|&()\[\]'"`\\ \n-]{0,12}"#) {
        match Path::parse(&text) {
            Ok(path) => {
                let _ = path.find(&of(json!({"a": [{"b": 1}, "c"], "b": {"a": null}})));
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.at)),
        }
    }

    /// A written value is found at the place that the write reported.
    #[test]
    fn find_after_write_finds_the_value(json in data(), text in plain_path()) {
        let mut data = of(json);
        let value = Node::new(Value::Int(4711), elsewhere());
        let path = path(&text);
        if let Ok(written) = path.write(&mut data, &value, ListWrite::Popped, here()) {
            let found = path.first(&data).unwrap().expect("it was just written");
            prop_assert_eq!(&*found.node, &value);
            prop_assert_eq!(found.node.span, elsewhere());
            prop_assert_eq!(&written.locations, &vec![Arc::new(found.location.clone())]);
            let there = written.locations[0].in_data(&data);
            prop_assert_eq!(key_spans(&there), key_spans(&found.location));
            if let Some(created) = written.created {
                prop_assert!(found.location.starts_with(&created));
            }
        }
    }

    /// A write creates what is missing and stores the value there, in one walk or in two.
    #[test]
    fn writing_is_creating_and_storing(json in data(), text in any_path(), value in data()) {
        let (mut written, value) = (of(json), of(value));
        let mut stored = written.clone();
        let path = path(&text);
        let one = path.write(&mut written, &value, ListWrite::Popped, here());
        let two = path.create(&mut stored, here()).and_then(|created| {
            let locations = path.update(&mut stored, &value, ListWrite::Popped)?;
            Ok(PathWrite { locations: locations.into_iter().map(Arc::new).collect(), created })
        });
        prop_assert_eq!(&one, &two);
        if one.is_ok() {
            let leaves = |data: &Node| -> Vec<_> {
                parts(data).into_iter().map(|(place, span, part)| (place, span, part.err())).collect()
            };
            prop_assert_eq!(leaves(&written), leaves(&stored));
        }
    }

    /// Shared nodes are not changed; nodes beside the written places stay the same objects with
    /// the same spans; a failed call changes nothing.
    #[test]
    fn writing_changes_only_the_written_places(json in data(), text in any_path(), value in data()) {
        let before = of(json);
        check_cached_size(&before);
        let (copy, shape) = (before.clone(), parts(&before));
        let mut after = before.clone();
        let result = path(&text).write(&mut after, &of(value), ListWrite::Popped, elsewhere());
        check_cached_size(&after);
        prop_assert_eq!(parts(&before), shape.clone());
        prop_assert_eq!(&before, &copy);
        let Ok(written) = result else {
            prop_assert_eq!(parts(&after), shape);
            return Ok(());
        };
        let mut touched = written.locations;
        touched.extend(written.created.map(Arc::new));
        let related = |place: &Location| {
            touched.iter().any(|other| other.starts_with(place) || place.starts_with(other))
        };
        let after = parts(&after);
        for part in shape.iter().filter(|part| !related(&part.0)) {
            prop_assert!(after.contains(part), "{}", part.0);
        }
    }

    /// `first` is the first match of `find`, and each location leads to its match.
    #[test]
    fn locations_lead_to_their_matches(json in data(), text in any_path()) {
        let data = of(json);
        let path = path(&text);
        match (path.find(&data), path.first(&data)) {
            (Ok(found), Ok(first)) => {
                let first = first.map(|first| (first.node.into_owned(), first.location));
                let of_found = found.first();
                let of_found = of_found.map(|found| (found.node.clone().into_owned(), found.location.clone()));
                prop_assert_eq!(first, of_found);
                for found in found {
                    if let std::borrow::Cow::Borrowed(node) = found.node {
                        let there = found.location.get(&data).expect("a node of the data");
                        prop_assert!(std::ptr::eq(there, node));
                    }
                }
            }
            (found, first) => {
                prop_assert_eq!(found.unwrap_err(), first.unwrap_err());
            }
        }
    }

    /// Both dialects agree on syntax that both have. RFC 9535's wildcards and slices know no other
    /// types; ours are limited to lists and mappings.
    #[test]
    fn agrees_with_rfc_9535(json in data(), text in shared_path()) {
        let ours = of(json.clone());
        let theirs = json.query(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let theirs: Vec<Node> = theirs.into_iter().map(|json| of(json.clone())).collect();
        // Indexes that fail in one dialect select nothing in the other.
        if let Ok(found) = path(&text).find(&ours) {
            let found: Vec<Node> = found.into_iter().map(|found| found.node.into_owned()).collect();
            if indexes_select_in_lists_only(&text, &ours) {
                prop_assert_eq!(found, theirs, "{}", text);
            }
        }
    }
}

/// Names, indexes and slices below a name, `*`, `..`.
fn shared_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        4 => "[.][a-c]",
        1 => "\\[(-[12]|[0-2])\\]",
        1 => prop::sample::select(vec!["[0:1]", "[1:]", "[-2:]", "[::2]", "[0,1]", "..a", "['a','b']"])
            .prop_map(String::from),
    ];
    prop::collection::vec(step, 1..4).prop_map(|steps| format!("${}", steps.concat()))
}

/// Whether every index or slice of the path meets a list: only jsonpath_ng selects from other
/// values.
fn indexes_select_in_lists_only(text: &str, data: &Node) -> bool {
    let brackets = text
        .match_indices('[')
        .filter(|(at, _)| !text[at + 1..].starts_with('\''));
    brackets.map(|(at, _)| &text[..at]).all(|before| {
        let met = path(before).find(data).unwrap_or_default();
        met.iter().all(|met| met.node.as_sequence().is_some())
    })
}
