//! Locations that a text reaches, and where it stops. In the documents, `# <- NAME` marks a line
//! that a test names.

use std::fmt::Write as _;

use layercake::check::RenderedSite;
use layercake::graph::DocId;
use layercake::merge::deckhand::Semantics;
use layercake::render::flow::{Flow, flow, flow_of_document};
use layercake::render::replay::Replay;
use layercake::source::{MemoryTree, Span};
use layercake::yaml::path::Path;

use crate::support::{check_files, options};

const DOCUMENTS: &str = "---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, type, site]}
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: versions
  labels: {is: versions}
  layeringDefinition: {abstract: true, layer: global}
data:
  kept: one           # <- kept
  again: one          # <- again
  gone: one           # <- gone
  list: [one, two]
  over: one
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: own
  labels: {is: own}
  layeringDefinition:
    abstract: false
    layer: type
    parentSelector: {is: versions}
    actions:
      - {method: merge, path: .}
      - {method: delete, path: .gone}     # <- deletes
      - {method: delete, path: '.list[0]'} # <- deletes-item
  substitutions:
    - src: {schema: example/Any/v1, name: other, path: .x}
      dest:
        path: .over   # <- overwrites
data:
  again: two          # <- set-again
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: other
  layeringDefinition: {abstract: false, layer: global}
data: {x: three}
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: taker
  layeringDefinition:
    abstract: false
    layer: site
    parentSelector: {is: own}
    actions:
      - {method: merge, path: .taken}     # <- takes
  substitutions:
    - src: {schema: example/Any/v1, name: other, path: .}
      dest: {path: .whole}
    - src: {schema: example/Any/v1, name: own, path: .kept}
      dest: {path: .text, pattern: WORD}
    - src: {schema: example/Any/v1, name: other, path: .x}
      dest: {path: .text, pattern: OTHER}
data:
  taken: {own: 1}
  untaken: 2
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: texts
  layeringDefinition: {abstract: false, layer: site}
  substitutions:
    - src: {schema: example/Any/v1, name: own, path: .kept}
      dest: {path: .text, pattern: WORD}
    - src: {schema: example/Any/v1, name: other, path: .x}
      dest: {path: .text, pattern: OTHER}
data: {text: WORD and OTHER}
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: unused
  layeringDefinition: {abstract: true, layer: global}
data: {x: 1}
";

fn of(name: &str, path: &str) -> String {
    flow_text(DOCUMENTS, name, |replay, doc| {
        let data = &replay.graph().recipe(doc).data;
        let place = Path::parse(path)
            .unwrap()
            .first(data)
            .unwrap()
            .unwrap()
            .location;
        flow(replay, doc, &place)
    })
}

fn flow_text(text: &str, name: &str, ask: impl Fn(&Replay<'_>, DocId) -> Flow + Sync) -> String {
    let tree = MemoryTree::new().with("documents.yaml", text);
    let checked = check_files(&tree, options(Semantics::Documented), |site| {
        let (doc, _) = site
            .graph
            .iter()
            .find(|(_, it)| *it.key.name == *name)
            .unwrap();
        describe(&ask(&Replay::new(site.graph, site.rendered), doc), site)
    });
    checked.sites.into_iter().next().unwrap().taken.unwrap()
}

fn describe(flow: &Flow, site: &RenderedSite<'_>) -> String {
    let mut text = String::new();
    let from = |from: Option<usize>| from.map_or(String::new(), |from| format!(" from #{from}"));
    let name = |doc: DocId| site.graph.recipe(doc).key.name.clone();
    for (index, it) in flow.reached.iter().enumerate() {
        let (name, via) = (name(it.doc), format!("{:?}", it.via).to_lowercase());
        writeln!(
            text,
            "#{index} {name} {} {via}{}",
            it.location,
            from(it.from)
        )
        .unwrap();
    }
    for stop in &flow.stops {
        let (name, why, at) = (name(stop.doc), stop.why, marked(stop.by, site));
        writeln!(
            text,
            "{name} {} {why:?} at {at}{}",
            stop.location,
            from(stop.from)
        )
        .unwrap();
    }
    assert!(!flow.more);
    text
}

/// Mark on a line, or its text if it has none.
fn marked(span: Span, site: &RenderedSite<'_>) -> String {
    let text = site.sources.get(span.file).text();
    let line = text
        .lines()
        .nth(site.sources.start(span).line.get() as usize - 1)
        .unwrap();
    line.split_once("# <- ")
        .map_or(line.trim(), |(_, mark)| mark)
        .to_owned()
}

#[test]
fn value_reaches_all_its_readers() {
    assert_eq!(
        of("versions", ".kept"),
        "#0 versions .kept literal
#1 own .kept inherited from #0
#2 taker .kept inherited from #1
#3 texts .text pattern from #1
"
    );
}

#[test]
fn overridden_value_stops_at_the_override() {
    assert_eq!(
        of("versions", ".again"),
        "#0 versions .again literal
own .again SetAgain at set-again from #0
"
    );
    assert_eq!(
        of("own", ".again"),
        "#0 own .again layered { method: merge }\n#1 taker .again inherited from #0\n"
    );
}

#[test]
fn deleted_value_stops_at_the_action() {
    assert_eq!(
        of("versions", ".gone"),
        "#0 versions .gone literal\nown .gone Deleted at deletes from #0\n"
    );
    assert_eq!(
        of("versions", ".list[0]"),
        "#0 versions .list[0] literal\nown .list[0] Deleted at deletes-item from #0\n"
    );
}

#[test]
fn item_after_a_deleted_one_moves() {
    assert_eq!(
        of("versions", ".list[1]"),
        "#0 versions .list[1] literal
#1 own .list[0] inherited from #0
#2 taker .list[0] inherited from #1
"
    );
}

#[test]
fn overwritten_value_stops_at_the_destination() {
    assert_eq!(
        of("versions", ".over"),
        "#0 versions .over literal\nown .over Overwritten at overwrites from #0\n"
    );
}

#[test]
fn own_data_without_an_action_stops_at_once() {
    assert_eq!(
        of("taker", ".untaken"),
        "taker .untaken NoAction at takes\n"
    );
    assert_eq!(
        of("taker", ".taken.own"),
        "#0 taker .taken.own layered { method: merge }\n"
    );
}

#[test]
fn mapping_reaches_the_locations_of_its_leaves() {
    let text = of("other", ".");
    assert_eq!(
        text,
        "#0 other .x literal
#1 own .over substituted from #0
#2 taker .over inherited from #1
#3 taker .whole.x substituted from #0
#4 texts .text pattern from #0
"
    );
}

#[test]
fn value_without_readers_is_unused() {
    assert_eq!(
        of("unused", ".x"),
        "#0 unused .x literal\nunused .x Unused at --- from #0\n"
    );
}

#[test]
fn document_reaches_everything_derived_from_it() {
    let text = flow_text(DOCUMENTS, "versions", flow_of_document);
    assert_eq!(
        text,
        "#0 versions . literal
#1 own . inherited from #0
#2 taker . inherited from #1
#3 texts . substituted from #1
"
    );
}

#[test]
fn cycle_stops_values_that_flow_into_it() {
    let document = |name: &str, sources: &[&str], data: &str| {
        let entries = sources.iter().map(|source| {
            format!(
                "\n    - src: {{schema: example/Any/v1, name: {source}, path: .x}}\n      dest: {{path: .{source}}}"
            )
        });
        format!(
            "---\nschema: example/Any/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
             layeringDefinition: {{abstract: false, layer: site}}\n  substitutions: {}\ndata: {data}\n",
            if sources.is_empty() {
                "[]".to_owned()
            } else {
                entries.collect()
            }
        )
    };
    let text = [
        document("free", &[], "{x: 1}"),
        document("one", &["free", "two"], "{}"),
        document("two", &["one"], "{}"),
    ];
    let reached = flow_text(&text.concat(), "free", |replay, doc| {
        let place = Path::parse(".x").unwrap();
        let data = &replay.graph().recipe(doc).data;
        flow(replay, doc, &place.first(data).unwrap().unwrap().location)
    });
    assert_eq!(
        reached,
        "#0 free .x literal
one . Blocked at - src: {schema: example/Any/v1, name: two, path: .x} from #0
"
    );
}

/// An index can also select one character of a string.
#[test]
fn character_of_a_string_is_carried() {
    let text = "---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: layering-policy}
data: {layerOrder: [global, site]}
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: parent
  labels: {is: parent}
  layeringDefinition: {abstract: true, layer: global}
data: {l: [a]}
---
schema: example/Any/v1
metadata:
  schema: metadata/Document/v1
  name: child
  layeringDefinition:
    layer: site
    parentSelector: {is: parent}
    actions: [{method: replace, path: '.l[0]'}]
data: {l: word}
";
    let reached = flow_text(text, "child", |replay, doc| {
        let data = &replay.graph().recipe(doc).data;
        let place = Path::parse(".l")
            .unwrap()
            .first(data)
            .unwrap()
            .unwrap()
            .location;
        flow(replay, doc, &place)
    });
    assert_eq!(reached, "#0 child .l[0] layered { method: replace }\n");
}
