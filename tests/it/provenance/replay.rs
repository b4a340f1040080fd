//! Trace of a value, hop by hop, for every kind of hop. A hop is printed as document, location,
//! operation and the texts it depends on; the hops it was read from and the overridden values are
//! nested below it.

use std::fmt::Write as _;

use layercake::check::RenderedSite;
use layercake::graph::{DocId, MissingSource};
use layercake::merge::deckhand::Semantics;
use layercake::render::replay::{Hop, Replay, Via};
use layercake::source::MemoryTree;
use layercake::system::deckhand::DeckhandOptions;
use layercake::yaml::emit::scalar_text;
use layercake::yaml::path::{Location, Path, Piece, Segment};
use layercake::yaml::{Key, Node, Value};

use crate::support::{check_files, options};

const POLICY: &str = "---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, type, site]}
";

/// Document from `NAME LAYER`, lines of metadata, and data in flow style.
fn document(head: &str, metadata: &str, data: &str) -> String {
    let (name, layer) = head.split_once(' ').unwrap();
    let lines: String = metadata
        .lines()
        .map(|line| format!("  {}\n", line.trim()))
        .collect();
    let layering = if metadata.contains("parentSelector") {
        String::new()
    } else {
        format!("  layeringDefinition: {{abstract: false, layer: {layer}}}\n")
    };
    format!(
        "---\nschema: example/Any/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n{lines}{layering}data: {data}\n"
    )
}

/// Document merged into the one labelled `is: PARENT` by these actions.
fn child(head: &str, parent: &str, actions: &str, more: &str, data: &str) -> String {
    let (_, layer) = head.split_once(' ').unwrap();
    let layering = format!(
        "layeringDefinition: {{layer: {layer}, parentSelector: {{is: {parent}}}, actions: \
         [{actions}]}}\nlabels: {{is: {}}}\n{more}",
        head.replace(' ', "-")
    );
    document(head, &layering, data)
}

fn parent(name: &str, data: &str) -> String {
    document(
        &format!("{name} global"),
        &format!("labels: {{is: {name}}}"),
        data,
    )
}

fn taking(head: &str, substitutions: &str, data: &str) -> String {
    document(head, &format!("substitutions: [{substitutions}]"), data)
}

fn from(source: &str, path: &str, dest: &str) -> String {
    format!("{{src: {{schema: example/Any/v1, name: {source}, path: {path}}}, dest: {dest}}}")
}

/// Trace of a location in the document of this name in the lowest layer.
fn way(semantics: Semantics, documents: &[String], name: &str, path: &str) -> String {
    way_with(options(semantics), documents, name, path)
}

fn way_with(options: DeckhandOptions, documents: &[String], name: &str, path: &str) -> String {
    let text = format!("{POLICY}{}", documents.concat());
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options, |site| {
        let docs = site
            .graph
            .iter()
            .filter(|(_, recipe)| *recipe.key.name == *name);
        let (doc, _) = docs.last().unwrap();
        let replay = Replay::new(site.graph, site.rendered);
        let mut text = String::new();
        write_hop(
            &replay.trace_with_losers(doc, &place(site, doc, path)),
            site,
            0,
            "",
            &mut text,
        );
        text
    });
    checked.sites.into_iter().next().unwrap().taken.unwrap()
}

fn place(site: &RenderedSite<'_>, doc: DocId, path: &str) -> Location {
    let path = Path::parse(path).unwrap();
    let found = site
        .rendered
        .data(doc)
        .and_then(|data| path.first(data).unwrap());
    if let Some(found) = found {
        return found.location;
    }
    let span = site.graph.recipe(doc).span;
    let pieces = path
        .segments()
        .unwrap()
        .iter()
        .map(|segment| match segment {
            Segment::Name(name) => Piece::Key(Key::string(name.clone(), span)),
            Segment::Index(index) => Piece::Index(usize::try_from(*index).unwrap()),
        });
    Location(pieces.collect())
}

fn write_hop(hop: &Hop, site: &RenderedSite<'_>, depth: usize, role: &str, text: &mut String) {
    let key = &site.graph.recipe(hop.doc).key;
    let how = match hop.via {
        Via::Layered { method } => method.as_str().to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let value = hop.value.as_ref().map_or("nothing".into(), short);
    let indent = "  ".repeat(depth);
    write!(
        text,
        "{indent}{role}{} {}: {how} {value}",
        key.name, hop.location
    )
    .unwrap();
    for span in &hop.at {
        write!(text, " `{}`", site.sources.slice(*span).replace('\n', " ")).unwrap();
    }
    text.push('\n');
    for from in &hop.from {
        write_hop(from, site, depth + 1, "", text);
    }
    if let Some(lost) = &hop.lost {
        write_hop(lost, site, depth + 1, "lost: ", text);
    }
}

fn short(node: &Node) -> String {
    match &node.value {
        Value::Mapping(mapping) => format!("mapping({})", mapping.len()),
        Value::Sequence(items) => format!("list({})", items.len()),
        scalar => scalar_text(scalar),
    }
}

#[track_caller]
fn assert_way(documents: &[String], name: &str, path: &str, expected: &str) {
    for semantics in [Semantics::Documented, Semantics::Deckhand] {
        assert_eq!(
            way(semantics, documents, name, path),
            expected,
            "{semantics:?}"
        );
    }
}

const MERGE: &str = "{method: merge, path: .}";

#[test]
fn own_data_overrides_the_base() {
    let documents = [
        parent("a", "{x: {y: base, z: 1}}"),
        child("b site", "a", MERGE, "", "{x: {y: own}}"),
    ];
    assert_way(
        &documents,
        "b",
        ".x.y",
        "b .x.y: merge own `{method: merge, path: .}` `.`
  b .x.y: literal own `own`
  lost: b .x.y: inherited base `{is: a}` `is: a` `{method: merge, path: .}`
    a .x.y: literal base `base`
",
    );
    assert_way(
        &documents,
        "b",
        ".x.z",
        "b .x.z: inherited 1 `{is: a}` `is: a` `{method: merge, path: .}`
  a .x.z: literal 1 `1`
",
    );
    // The child wrote a mapping that both documents have; the values of the base are in it.
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: merge mapping(2) `{method: merge, path: .}` `.`
  b .x: literal mapping(1) `{y: own}`
",
    );
}

#[test]
fn value_is_traced_through_layers() {
    let documents = [
        parent("a", "{x: 1}"),
        child("b type", "a", MERGE, "", "{y: 1}"),
        child("c site", "b-type", MERGE, "", "{z: 1}"),
    ];
    assert_way(
        &documents,
        "c",
        ".x",
        "c .x: inherited 1 `{is: b-type}` `is: b-type` `{method: merge, path: .}`
  b .x: inherited 1 `{is: a}` `is: a` `{method: merge, path: .}`
    a .x: literal 1 `1`
",
    );
}

#[test]
fn merged_empty_mapping_is_traced_to_the_base() {
    let documents = [
        parent("a", "{x: {y: 1}}"),
        child("b site", "a", MERGE, "", "{x: {}}"),
    ];
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: inherited mapping(1) `{is: a}` `is: a` `{method: merge, path: .}`
  a .x: literal mapping(1) `{y: 1}`
",
    );
}

#[test]
fn without_actions_only_own_data_is_rendered() {
    let documents = [
        parent("a", "{x: 1}"),
        child("b site", "a", "", "", "{x: 2}"),
    ];
    assert_way(&documents, "b", ".x", "b .x: literal 2 `2`\n");
}

#[test]
fn document_replacement_is_traced() {
    let documents = [
        parent("a", "{x: 1}"),
        child("a site", "a", MERGE, "replacement: true", "{y: 1}"),
        taking("c site", &from("a", ".x", "{path: .z}"), "{}"),
    ];
    assert_way(
        &documents,
        "c",
        ".z",
        "c .z: substituted 1 `{src: {schema: example/Any/v1, name: a, path: .x}, dest: {path: .z}}` `.x` `.z`
  a .x: replaced 1 `{is: a}` `is: a` `{method: merge, path: .}`
    a .x: literal 1 `1`
",
    );
}

#[test]
fn whole_values_and_their_content_are_substituted() {
    let documents = [
        document("s global", "", "{t: {u: [1, 2]}}"),
        taking(
            "b site",
            &from("s", ".t", "{path: .x.y}"),
            "{x: {y: {u: old}}}",
        ),
    ];
    let entry =
        "`{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: .x.y}}` `.t` `.x.y`";
    assert_way(
        &documents,
        "b",
        ".x.y.u[1]",
        &format!("b .x.y.u[1]: substituted 2 {entry}\n  s .t.u[1]: literal 2 `2`\n"),
    );
    assert_way(
        &documents,
        "b",
        ".x.y.u",
        &format!(
            "b .x.y.u: substituted list(2) {entry}
  s .t.u: literal list(2) `[1, 2]`
  lost: b .x.y.u: literal old `old`
"
        ),
    );
}

#[test]
fn created_location_is_traced() {
    let documents = [
        document("s global", "", "{t: 1}"),
        taking("b site", &from("s", ".t", "{path: '.l[1].z'}"), "{}"),
    ];
    let entry = "`{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: '.l[1].z'}}` `.t` `'.l[1].z'`";
    for (place, kind) in [
        (".l", "list(2)"),
        (".l[0]", "mapping(0)"),
        (".l[1]", "mapping(1)"),
    ] {
        assert_way(
            &documents,
            "b",
            place,
            &format!("b {place}: made {kind} {entry}\n"),
        );
    }
    let way = format!("b .l[1].z: substituted 1 {entry}\n  s .t: literal 1 `1`\n");
    assert_way(&documents, "b", ".l[1].z", &way);
}

#[test]
fn substitution_at_the_root_is_flattened() {
    let documents = [
        document("s global", "", "{x: {y: 1}}"),
        taking(
            "b site",
            &from("s", ".", "{path: .}"),
            "{x: {y: 0, z: 0}, q: 0}",
        ),
    ];
    let entry = "`{src: {schema: example/Any/v1, name: s, path: .}, dest: {path: .}}` `.` `.`";
    assert_way(
        &documents,
        "b",
        ".x.y",
        &format!(
            "b .x.y: substituted 1 {entry}
  s .x.y: literal 1 `1`
  lost: b .x.y: literal 0 `0`
"
        ),
    );
    assert_way(&documents, "b", ".q", "b .q: literal 0 `0`\n");
    assert_way(
        &documents,
        "b",
        ".x.z",
        &format!(
            "b .x.z: deleted nothing {entry}
  s .x.z: absent nothing `{{y: 1}}`
  lost: b .x.z: literal 0 `0`
"
        ),
    );
    assert_way(
        &documents,
        "b",
        ".",
        "b .: literal mapping(2) `{x: {y: 0, z: 0}, q: 0}`\n",
    );
}

#[test]
fn string_is_substituted_at_the_root() {
    let documents = [
        document("s global", "", "word"),
        taking("b site", &from("s", ".", "{path: .}"), "{a: 1}"),
    ];
    assert_way(
        &documents,
        "b",
        ".",
        "b .: substituted word `{src: {schema: example/Any/v1, name: s, path: .}, dest: {path: .}}` `.` `.`
  s .: literal word `word`
  lost: b .: literal mapping(1) `{a: 1}`
",
    );
}

#[test]
fn part_of_a_source_string_is_substituted() {
    let documents = [
        document("s global", "", "{t: image:tag}"),
        taking(
            "b site",
            "{src: {schema: example/Any/v1, name: s, path: .t, pattern: '(.*):', match_group: 1}, dest: {path: .x}}",
            "{}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: substituted image `{src: {schema: example/Any/v1, name: s, path: .t, pattern: '(.*):', match_group: 1}, dest: {path: .x}}` `.t` `'(.*):'` `.x`
  s .t: literal image:tag `image:tag`
",
    );
}

#[test]
fn pattern_substitution_has_two_sources() {
    let documents = [
        document("s global", "", "{t: one, u: two}"),
        parent("a", "{x: FIRST and SECOND}"),
        child(
            "b site",
            "a",
            MERGE,
            &format!(
                "substitutions: [{}, {}]",
                from("s", ".t", "{path: .x, pattern: FIRST}"),
                from("s", ".u", "{path: .x, pattern: SECOND}")
            ),
            "{}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: pattern one and two `{src: {schema: example/Any/v1, name: s, path: .u}, dest: {path: .x, pattern: SECOND}}` `.u` `.x` `SECOND`
  b .x: pattern one and SECOND `{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: .x, pattern: FIRST}}` `.t` `.x` `FIRST`
    b .x: inherited FIRST and SECOND `{is: a}` `is: a` `{method: merge, path: .}`
      a .x: literal FIRST and SECOND `FIRST and SECOND`
    s .t: literal one `one`
  s .u: literal two `two`
",
    );
}

#[test]
fn pattern_is_searched_below_its_path() {
    let documents = [
        document("s global", "", "{t: one}"),
        taking(
            "b site",
            &from("s", ".t", "{path: .x, pattern: WORD, recurse: {depth: -1}}"),
            "{x: {l: [a WORD, none]}}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".x.l[0]",
        "b .x.l[0]: pattern a one `{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: .x, pattern: WORD, recurse: {depth: -1}}}` `.t` `.x` `WORD`
  b .x.l[0]: literal a WORD `a WORD`
  s .t: literal one `one`
",
    );
    assert_way(
        &documents,
        "b",
        ".x.l[1]",
        "b .x.l[1]: literal none `none`\n",
    );
}

#[test]
fn last_of_several_substitutions_wins() {
    let documents = [
        document("s global", "", "{t: one, u: two}"),
        taking(
            "b site",
            &format!(
                "{}, {}",
                from("s", ".t", "{path: .x}"),
                from("s", ".u", "{path: .x}")
            ),
            "{x: zero}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: substituted two `{src: {schema: example/Any/v1, name: s, path: .u}, dest: {path: .x}}` `.u` `.x`
  s .u: literal two `two`
  lost: b .x: substituted one `{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: .x}}` `.t` `.x`
    s .t: literal one `one`
    lost: b .x: literal zero `zero`
",
    );
}

#[test]
fn element_is_substituted() {
    let documents = [
        document("s global", "", "{t: one}"),
        taking(
            "b site",
            &from("s", ".t", "{path: '.l[1]'}"),
            "{l: [a, b, c]}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".l[1]",
        "b .l[1]: substituted one `{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: '.l[1]'}}` `.t` `'.l[1]'`
  s .t: literal one `one`
  lost: b .l[1]: literal b `b`
",
    );
    assert_way(&documents, "b", ".l[2]", "b .l[2]: literal c `c`\n");
}

#[test]
fn list_written_at_an_index_is_split_in_deckhands_code() {
    let documents = [
        document("s global", "", "{t: [one, two]}"),
        taking("b site", &from("s", ".t", "{path: '.l[0]'}"), "{l: [a]}"),
    ];
    let entry = "`{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: '.l[0]'}}` `.t` `'.l[0]'`";
    assert_eq!(
        way(Semantics::Deckhand, &documents, "b", ".l[0]"),
        format!(
            "b .l[0]: substituted one {entry}\n  s .t[0]: literal one `one`\n  lost: b .l[0]: literal a `a`\n"
        )
    );
    assert_eq!(
        way(Semantics::Documented, &documents, "b", ".l[0][1]"),
        format!("b .l[0][1]: substituted two {entry}\n  s .t[1]: literal two `two`\n")
    );
}

#[test]
fn replace_action_overrides_all_inherited_data() {
    let action = "{method: merge, path: .}, {method: replace, path: .x}";
    let documents = [
        parent("a", "{x: {y: 1, z: 1}}"),
        child("b site", "a", action, "", "{x: {y: 2}}"),
    ];
    assert_way(
        &documents,
        "b",
        ".x.z",
        "b .x.z: deleted nothing `{method: replace, path: .x}` `.x`
  b .x.z: absent nothing `{y: 2}`
  lost: b .x.z: inherited 1 `{is: a}` `is: a` `{method: merge, path: .}`
    a .x.z: literal 1 `1`
",
    );
    assert_way(
        &documents,
        "b",
        ".x.q",
        "b .x.q: replace nothing `{method: replace, path: .x}` `.x`
  b .x.q: absent nothing `{y: 2}`
",
    );
    assert_way(
        &documents,
        "b",
        ".x.y",
        "b .x.y: replace 2 `{method: replace, path: .x}` `.x`
  b .x.y: literal 2 `2`
  lost: b .x.y: merge 2 `{method: merge, path: .}` `.`
    b .x.y: literal 2 `2`
    lost: b .x.y: inherited 1 `{is: a}` `is: a` `{method: merge, path: .}`
      a .x.y: literal 1 `1`
",
    );
}

#[test]
fn deleted_value_is_traced_to_the_action() {
    let documents = [
        parent("a", "{x: {y: 1}, l: [k, l, m]}"),
        child(
            "b site",
            "a",
            "{method: delete, path: .x}, {method: delete, path: '.l[0]'}",
            "",
            "{}",
        ),
    ];
    assert_way(
        &documents,
        "b",
        ".x.y",
        "b .x.y: deleted nothing `{method: delete, path: .x}` `.x`
  lost: b .x.y: inherited 1 `{is: a}` `is: a` `{method: delete, path: .x}`
    a .x.y: literal 1 `1`
",
    );
    // The later items of the list moved to the front.
    assert_way(
        &documents,
        "b",
        ".l[1]",
        "b .l[1]: inherited m `{is: a}` `is: a` `{method: delete, path: .x}`
  a .l[2]: literal m `m`
",
    );
}

/// Regardless of the order and number of times in which a path selects items; the remaining ones
/// are traced to their original positions.
#[test]
fn delete_action_removes_the_selected_elements() {
    for (path, left) in [
        ("l[2,0]", "b d"),
        ("l[0,0]", "b c d"),
        ("l[::-1]", ""),
        ("l[3:0:-2]", "a c"),
        ("l[1:3]", "a d"),
    ] {
        let action = format!("{{method: delete, path: '.{path}'}}");
        let documents = [
            parent("a", "{l: [a, b, c, d]}"),
            child("b site", "a", &action, "", "{}"),
        ];
        let places = (0..4).map(|index| format!(".l[{index}]"));
        let ways = places.map(|place| way(Semantics::Documented, &documents, "b", &place));
        let written = |way: String| {
            let (_, value) = way.lines().last()?.split_once(": literal ")?;
            value.split(' ').next().map(str::to_owned)
        };
        let there: Vec<String> = ways.filter_map(written).collect();
        assert_eq!(there.join(" "), left, "{path}");
    }
}

#[test]
fn delete_action_at_the_root_makes_an_empty_mapping() {
    let documents = [
        parent("a", "{x: 1}"),
        child("b site", "a", "{method: delete, path: .}", "", "{}"),
    ];
    assert_way(
        &documents,
        "b",
        ".",
        "b .: made mapping(0) `{method: delete, path: .}` `.`\n",
    );
    assert_way(
        &documents,
        "b",
        ".x",
        "b .x: deleted nothing `{method: delete, path: .}` `.`
  lost: b .x: inherited 1 `{is: a}` `is: a` `{method: delete, path: .}`
    a .x: literal 1 `1`
",
    );
}

/// D03: Deckhand's code removes the first equal value, regardless of its position.
#[test]
fn delete_action_removes_the_first_equal_value_in_deckhands_code() {
    let documents = [
        parent("a", "{first: 1, x: 1}"),
        child("b site", "a", "{method: delete, path: .x}", "", "{}"),
    ];
    let deleted = |key: &str| {
        format!(
            "b .{key}: deleted nothing `{{method: delete, path: .x}}` `.x`
  lost: b .{key}: inherited 1 `{{is: a}}` `is: a` `{{method: delete, path: .x}}`
    a .{key}: literal 1 `1`
"
        )
    };
    assert_eq!(
        way(Semantics::Documented, &documents, "b", ".x"),
        deleted("x")
    );
    assert_eq!(
        way(Semantics::Deckhand, &documents, "b", ".first"),
        deleted("first")
    );
}

/// The path selects several locations: the value of the first one is merged and written to all.
#[test]
fn merge_copies_the_first_of_several_locations() {
    let action = "{method: merge, path: '.*'}";
    let documents = [
        parent("a", "{x: {y: 1}, z: 2}"),
        child("b site", "a", action, "", "{x: {q: 3}}"),
    ];
    let inherited = format!("inherited 1 `{{is: a}}` `is: a` `{action}`");
    assert_way(
        &documents,
        "b",
        ".z.y",
        &format!("b .z.y: {inherited}\n  a .x.y: literal 1 `1`\n"),
    );
}

/// D01: a merge at an index extends the list.
#[test]
fn merge_at_an_index_extends_the_list() {
    let documents = [
        parent("a", "{l: [{p: 1}, {p: 2}]}"),
        child(
            "b site",
            "a",
            "{method: merge, path: '.l[0]'}",
            "",
            "{l: [{p: 3}]}",
        ),
    ];
    let action = "`{method: merge, path: '.l[0]'}` `'.l[0]'`";
    assert_eq!(
        way(Semantics::Documented, &documents, "b", ".l[2].p"),
        format!("b .l[2].p: merge 3 {action}\n  b .l[0].p: literal 3 `3`\n")
    );
    assert_eq!(
        way(Semantics::Documented, &documents, "b", ".l[1].p"),
        "b .l[1].p: inherited 2 `{is: a}` `is: a` `{method: merge, path: '.l[0]'}`\n  \
         a .l[1].p: literal 2 `2`\n"
    );
    assert_eq!(
        way(Semantics::Documented, &documents, "b", ".l"),
        format!("b .l: merge list(3) {action}\n  b .l: literal list(1) `[{{p: 3}}]`\n")
    );
    assert_eq!(
        way(Semantics::Deckhand, &documents, "b", ".l[0].p"),
        format!(
            "b .l[0].p: merge 3 {action}
  b .l[0].p: literal 3 `3`
  lost: b .l[0].p: inherited 1 `{{is: a}}` `is: a` `{{method: merge, path: '.l[0]'}}`
    a .l[0].p: literal 1 `1`
"
        )
    );
}

#[test]
fn missing_value_is_traced_to_the_base() {
    let documents = [
        parent("a", "{x: {}}"),
        child("b site", "a", MERGE, "", "{}"),
    ];
    assert_way(
        &documents,
        "b",
        ".x.gone",
        "b .x.gone: inherited nothing `{is: a}` `is: a` `{method: merge, path: .}`
  a .x.gone: absent nothing `{}`
",
    );
}

#[test]
fn keys_need_not_be_strings() {
    let documents = [
        parent("a", "{1: one, x: 1}"),
        child("b site", "a", MERGE, "", "{x: 2}"),
    ];
    let text = format!("{POLICY}{}", documents.concat());
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let (doc, recipe) = site.graph.iter().last().unwrap();
        let replay = Replay::new(site.graph, site.rendered);
        let key = Piece::Key(Key {
            value: Value::Int(1),
            span: recipe.span,
        });
        let hop = replay.trace_with_losers(doc, &Location(vec![key]));
        let mut text = String::new();
        write_hop(&hop, site, 0, "", &mut text);
        text
    });
    assert_eq!(
        checked.sites[0].taken.as_deref(),
        Some(
            "b .1: inherited one `{is: a}` `is: a` `{method: merge, path: .}`
  a .1: literal one `one`
"
        )
    );
}

#[test]
fn cycle_and_its_dependents_are_blocked() {
    let documents = [
        taking("a site", &from("b", ".x", "{path: .x}"), "{}"),
        taking("b site", &from("a", ".x", "{path: .x}"), "{}"),
        taking("c site", &from("a", ".x", "{path: .x}"), "{}"),
    ];
    assert_way(&documents, "a", ".x", "a .x: blocked nothing `b`\n");
    assert_way(&documents, "c", ".x", "c .x: blocked nothing `a`\n");
}

#[test]
fn control_document_has_its_own_data() {
    let way = way(
        Semantics::Documented,
        &[],
        "layering-policy",
        ".layerOrder[0]",
    );
    assert_eq!(
        way,
        "layering-policy .layerOrder[0]: literal global `global`\n"
    );
}

#[test]
fn null_for_a_missing_value_is_traced() {
    let documents = [
        document("s global", "", "{}"),
        taking("b site", &from("s", ".t", "{path: .x}"), "{x: 1}"),
    ];
    let lenient = DeckhandOptions {
        missing_source: MissingSource::Warning,
        ..options(Semantics::Deckhand)
    };
    assert_eq!(
        way_with(lenient, &documents, "b", ".x"),
        "b .x: made null `{src: {schema: example/Any/v1, name: s, path: .t}, dest: {path: .x}}` `.t` `.x`\n"
    );
}

/// A document over a limit is rendered as its own data.
#[test]
fn document_over_a_limit_keeps_its_own_data() {
    // Each substitutes twice from the previous one: more than 2^21 mappings in total.
    let mut documents = vec![document("d0 site", "", "{x: 1}")];
    for number in 1..=21 {
        let before = format!("d{}", number - 1);
        let takes = format!(
            "{}, {}",
            from(&before, ".", "{path: .x}"),
            from(&before, ".", "{path: .y}")
        );
        documents.push(taking(&format!("d{number} site"), &takes, "{x: own}"));
    }
    let way = way(Semantics::Documented, &documents, "d21", ".x");
    assert!(way.starts_with("d21 .x: literal own `own` `---"), "{way}");
    assert_eq!(way.lines().count(), 1, "{way}");
}

/// Every document substitutes a string of the previous one by two patterns: the number of routes
/// exceeds the limit.
#[test]
fn multiplying_routes_are_traced_to_a_limit() {
    let mut documents = vec![document("d0 site", "", "{x: t}")];
    for number in 1..=40 {
        let takes = ["ONE", "TWO"].map(|pattern| {
            format!(
                "{{src: {{schema: example/Any/v1, name: d{}, path: .x, pattern: '.'}}, dest: \
                 {{path: .x, pattern: {pattern}}}}}",
                number - 1
            )
        });
        let takes = takes.join(", ");
        documents.push(taking(&format!("d{number} site"), &takes, "{x: ONE TWO}"));
    }
    let text = format!("{POLICY}{}", documents.concat());
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let (doc, _) = site.graph.iter().last().unwrap();
        let replay = Replay::new(site.graph, site.rendered);
        count(&replay.trace_with_losers(doc, &place(site, doc, ".x")))
    });
    let (hops, unfollowed) = checked.sites[0].taken.unwrap();
    assert!(hops < 3 * Replay::MAX_HOPS, "{hops}");
    assert!(unfollowed > 0);
}

/// A trace deeper than any stack.
#[test]
fn long_trace_is_dropped_without_overflow() {
    let mut documents = vec![document("d0 site", "", "{x: 1}")];
    documents.extend((1..=3000).map(|number| {
        let before = format!("d{}", number - 1);
        taking(
            &format!("d{number} site"),
            &from(&before, ".x", "{path: .x}"),
            "{}",
        )
    }));
    let way = way(Semantics::Documented, &documents, "d3000", ".x");
    assert_eq!(way.lines().count(), Replay::MAX_LENGTH + 1);
    assert!(
        way.lines().last().unwrap().contains("unfollowed 1"),
        "{way}"
    );
}

fn count(hop: &Hop) -> (usize, usize) {
    let own = (1, usize::from(hop.via == Via::Unfollowed));
    let below = hop.from.iter().chain(hop.lost.as_deref()).map(count);
    below.fold(own, |sum, one| (sum.0 + one.0, sum.1 + one.1))
}
