//! The page on merging of 2013, in the dialect that it describes, and the current result of
//! cloud-init for each of its examples (`cloud-init.md` 10).

use std::sync::Arc;

use layercake::merge::Strategy;
use layercake::merge::cloud_init::{Class, Dialect};
use layercake::merge::cloud_init::{
    Default, Failure, FailureKind, Incoming, MergeRules, Specification, stack, stack_of_many,
};
use layercake::report::canonical;
use layercake::source::{Span, Spanned};
use layercake::yaml::{Mapping, Node, Value};

use super::read;
use crate::conformance::some_file;

const ONE: &str = "#cloud-config (1)\nrun_cmd:\n  - bash1\n  - bash2\n";
const TWO: &str = "#cloud-config (2)\nrun_cmd:\n  - bash3\n  - bash4\n";

/// "the default string that is used when none is provided is the following".
const DEFAULT: &str = "list(extend)+dict()+str(append)";

/// "This would be the equivalent format for default string format but in
/// dictionary form instead of string form."
const DEFAULT_AS_DICTIONARY: &str = "{'merge_how': [{'name': 'list', 'settings': ['extend']},
 {'name': 'dict', 'settings': []},
 {'name': 'str', 'settings': ['append']}]}";

/// A part, and the header that it came with.
type Part<'a> = (&'a str, Option<&'a str>);

/// Asserts the result of parts in the dialect of the page.
fn documented(parts: &[Part<'_>], expected: &str) {
    let parts = nodes(parts);
    let incoming = parts.iter().map(|(data, header)| Incoming {
        data,
        header: header.as_ref(),
    });
    let layings = stack(incoming);
    assert_eq!(merged(&parts, &layings), expected, "as documented");
}

/// Asserts the result of parts in current cloud-init.
fn current(parts: &[Part<'_>], expected: &str) {
    let parts = nodes(parts);
    let layings: Vec<MergeRules> = parts
        .iter()
        .map(|(_, header)| MergeRules::Current {
            header: header.clone(),
            default: Default::UserData,
        })
        .collect();
    assert_eq!(merged(&parts, &layings), expected, "today");
}

/// Asserts the results of parts without headers in both dialects.
fn both(parts: &[&str], as_documented: &str, today: &str) {
    let parts: Vec<Part<'_>> = parts.iter().map(|part| (*part, None)).collect();
    documented(&parts, as_documented);
    current(&parts, today);
}

fn nodes(parts: &[Part<'_>]) -> Vec<(Node, Option<Spanned<Arc<str>>>)> {
    let nowhere = Span::point(some_file(), 0);
    let spanned = |text: &str| Spanned::new(Arc::from(text), nowhere);
    parts
        .iter()
        .map(|(text, header)| (read(text), header.map(spanned)))
        .collect()
}

fn merged(parts: &[(Node, Option<Spanned<Arc<str>>>)], layings: &[MergeRules]) -> String {
    let empty = Value::Mapping(Arc::new(Mapping::new()));
    let mut result = Node::new(empty, Span::point(some_file(), 0));
    for ((part, _), laying) in parts.iter().zip(layings) {
        // A part that fails is dropped.
        let _ = Strategy::CloudInit(laying.clone()).merge(&mut result, part);
    }
    canonical(&result)
}

fn specification(text: &str, dialect: Dialect) -> Result<Specification, Failure> {
    Specification::read(&read(text), None, dialect)
}

/// "Typically this is not what users want, instead they would likely prefer": all four commands.
/// Current cloud-init has the first result of the page again (S1).
#[test]
fn run_cmd_of_two_parts() {
    both(
        &[ONE, TWO],
        r#"{"run_cmd":["bash1","bash2","bash3","bash4"]}"#,
        r#"{"run_cmd":["bash3","bash4"]}"#,
    );
}

/// The default written out is equivalent to no specification (S2, S3). In current cloud-init
/// `extend` is not an option, and `dict()` does not merge lists: the values of the second part are
/// lost.
#[test]
fn default_as_a_string() {
    let how = format!("merge_how: {DEFAULT}\n");
    let (one, two) = (
        format!("{how}{ONE}text: a\n"),
        format!("{how}{TWO}text: b\n"),
    );
    let twice = format!("{DEFAULT}{DEFAULT}");
    both(
        &[&one, &two],
        &format!(
            r#"{{"merge_how":"{twice}","run_cmd":["bash1","bash2","bash3","bash4"],"text":"ab"}}"#
        ),
        r#"{"run_cmd":["bash1","bash2"],"text":"a"}"#,
    );
}

/// "the equivalent format": both forms are equivalent (S4).
#[test]
fn default_as_a_dictionary() {
    for dialect in [Dialect::Current, Dialect::Documented] {
        let asked = |text: &str| {
            let read = specification(text, dialect).expect("the page's own specification");
            let of = |class| {
                let request = read
                    .first(class)
                    .expect("the specification has all three classes");
                class
                    .options(dialect)
                    .iter()
                    .map(|it| request.settings.has(it))
                    .collect::<Vec<_>>()
            };
            (Class::ALL.map(of), read.requests.len())
        };
        assert_eq!(
            asked(DEFAULT_AS_DICTIONARY),
            asked(&format!("merge_how: {DEFAULT}"))
        );
    }
    let how = "merge_how:\n  - {name: list, settings: [extend]}\n  - {name: dict, settings: []}\n  \
               - {name: str, settings: [append]}\n";
    let first = format!("{how}{ONE}");
    let how = r#"[{"name":"list","settings":["extend"]},{"name":"dict","settings":[]},{"name":"str","settings":["append"]}]"#;
    both(
        &[&first, TWO],
        &format!(r#"{{"merge_how":{how},"run_cmd":["bash1","bash2","bash3","bash4"]}}"#),
        r#"{"run_cmd":["bash3","bash4"]}"#,
    );
}

/// "if 'overwrite' is enabled then keys that exist in the original will be overwritten by keys in
/// the one to merge with". In current cloud-init the option is unknown (S6), and a part specifies
/// its own merging (S5).
#[test]
fn dictionary_that_overwrites() {
    let overwrite = "merge_how: dict(overwrite)\n";
    both(
        &[
            &format!("{overwrite}a: 1\nb: {{c: 1}}\n"),
            "a: 2\nb: {d: 2}\n",
        ],
        r#"{"a":2,"b":{"d":2},"merge_how":"dict(overwrite)"}"#,
        r#"{"a":2,"b":{"d":2}}"#,
    );
    current(
        &[
            ("a: 1\nb: {c: 1}\n", None),
            (&format!("{overwrite}a: 2\nb: {{d: 2}}\n"), None),
        ],
        r#"{"a":1,"b":{"c":1,"d":2}}"#,
    );
    current(
        &[
            ("a: 1\nb: {c: 1}\n", None),
            ("merge_how: dict(replace)\na: 2\nb: {d: 2}\n", None),
        ],
        r#"{"a":2,"b":{"d":2}}"#,
    );
}

/// "Otherwise if not in overwrite mode the 2 conflicting keys themselves will be merged." Current
/// cloud-init always does so only for mappings (S7).
#[test]
fn dictionary_that_merges() {
    let how = "merge_how: dict()+list(extend)+str(append)\n";
    let one = format!("{how}m: {{a: 1}}\nl: [1]\nt: x\nn: 1\n");
    let two = "m: {b: 2}\nl: [2]\nt: y\nn: 2\n";
    documented(
        &[(&one, None), (two, None)],
        r#"{"l":[1,2],"m":{"a":1,"b":2},"merge_how":"dict()+list(extend)+str(append)","n":1,"t":"xy"}"#,
    );
    current(
        &[(&one, None), (&format!("{how}{two}"), None)],
        r#"{"l":[1],"m":{"a":1,"b":2},"n":1,"t":"x"}"#,
    );
}

/// "on encountering any other type of object it will not merge with said
/// object, but will instead return the original value".
#[test]
fn dictionary_and_another_type() {
    let how = "merge_how: dict(recurse_list,recurse_str)\n";
    let (one, two) = (format!("{how}m: {{a: 1}}\n"), format!("{how}m: text\n"));
    let twice = r#""merge_how":"dict(recurse_list,recurse_str)""#;
    both(
        &[&one, &two],
        &format!(r#"{{"m":{{"a":1}},{twice}}}"#),
        r#"{"m":{"a":1}}"#,
    );
}

/// "a string merger can be told to append strings instead of discarding other strings to merge
/// with". Current cloud-init discards its own string instead (S8).
#[test]
fn string_with_and_without_append() {
    let part = |how: &str, text: &str| format!("merge_how: {how}\nt: {text}\n");
    let append = "dict(recurse_str)+str(append)";
    let (one, two) = (part(append, "x"), "t: y\n");
    documented(
        &[(&one, None), (two, None)],
        &format!(r#"{{"merge_how":"{append}","t":"xy"}}"#),
    );
    current(&[(two, None), (&one, None)], r#"{"t":"yx"}"#);

    let discard = "dict(recurse_str)+str()";
    let (one, two) = (part(discard, "x"), "t: y\n");
    documented(
        &[(&one, None), (two, None)],
        &format!(r#"{{"merge_how":"{discard}","t":"x"}}"#),
    );
    current(&[(two, None), (&one, None)], r#"{"t":"x"}"#);
}

/// "Two new headers are looked for ... The value should be a string which will satisfy the new
/// merging format": a header can hold the specification. Current cloud-init combines body and
/// header, the body first (S9).
#[test]
fn header_holds_the_specification() {
    let header = Some("dict(overwrite)");
    documented(
        &[(ONE, header), (TWO, None)],
        r#"{"run_cmd":["bash3","bash4"]}"#,
    );
    let header = Some("dict(recurse_list)+list(append)");
    let all = r#"{"run_cmd":["bash1","bash2","bash3","bash4"]}"#;
    current(&[(ONE, None), (TWO, header)], all);
    let body = format!("merge_how: dict(recurse_list)\n{TWO}");
    current(
        &[(ONE, None), (&body, Some("dict(replace)+list(append)"))],
        all,
    );
}

/// "The keys that are looked up for this definition are the following (in order), `merge_how`,
/// `merge_type`." In current cloud-init the ignored one stays in the data (S10).
#[test]
fn first_of_two_keys_is_used() {
    let how = "merge_how: dict(overwrite)\nmerge_type: dict()\n";
    documented(
        &[(&format!("{how}a: 1\n"), None), ("a: 2\n", None)],
        r#"{"a":2,"merge_how":"dict(overwrite)","merge_type":"dict()"}"#,
    );
    let how = "merge_how: dict(replace)\nmerge_type: dict()\n";
    current(
        &[("a: 1\n", None), (&format!("{how}a: 2\n"), None)],
        r#"{"a":2,"merge_type":"dict()"}"#,
    );
    let how = "merge_type: dict(replace)\n";
    current(
        &[("a: 1\n", None), (&format!("{how}a: 2\n"), None)],
        r#"{"a":2}"#,
    );
}

/// "classname1(option1,option2)+classname2(option3,option4)....": a part with another form is
/// dropped, today as in 2013 (S13).
#[test]
fn string_format() {
    for dialect in [Dialect::Current, Dialect::Documented] {
        let read = specification("merge_how: list(a,b)+dict(c,d)\n", dialect).expect("the form");
        let names: Vec<&str> = read.requests.iter().map(|it| &*it.name.value).collect();
        assert_eq!(names, ["list", "dict"]);
        assert!(
            ["a", "b"]
                .iter()
                .all(|it| read.requests[0].settings.has(it))
        );
        let fault = specification("merge_how: list(a)+dict\n", dialect).expect_err("no form");
        assert_eq!(fault.kind, FailureKind::Format);
    }
    both(
        &[ONE, "merge_how: list\nrun_cmd: [lost]\n"],
        &json(ONE),
        &json(ONE),
    );
}

/// "it is possible for users to inject there own merging files": a part cannot contain one, and a
/// part with an unknown class is dropped (S11).
#[test]
fn custom_class_is_refused() {
    let own = "merge_how: mine(append)\nrun_cmd: [lost]\n";
    current(&[(ONE, None), (own, None)], &json(ONE));
    // In 2013 the part that would have been merged is dropped: the next one.
    documented(
        &[(own, None), (ONE, None), (TWO, None)],
        r#"{"merge_how":"mine(append)","run_cmd":["lost","bash3","bash4"]}"#,
    );
}

/// "a cloud-config can decide how it will merge with a cloud-config dictionary coming after it". In
/// current cloud-init each part specifies its own merging (S5).
#[test]
fn stack_of_classes() {
    let overwriting = |text: &str| format!("merge_how: dict(overwrite)+list(extend)\n{text}");
    let how = r#""merge_how":"dict(overwrite)+list(extend)""#;
    documented(
        &[
            (&overwriting(ONE), None),
            (TWO, None),
            ("run_cmd: [z]\n", None),
        ],
        &format!(r#"{{{how},"run_cmd":["bash3","bash4","z"]}}"#),
    );
    documented(
        &[
            (ONE, None),
            (&overwriting(TWO), None),
            ("run_cmd: [z]\n", None),
        ],
        &format!(r#"{{{how},"run_cmd":["z"]}}"#),
    );
    let appending = |text: &str| format!("merge_how: dict(recurse_list)+list(append)\n{text}");
    current(
        &[
            (&appending(ONE), None),
            (TWO, None),
            ("run_cmd: [z]\n", None),
        ],
        r#"{"run_cmd":["z"]}"#,
    );
    current(
        &[(ONE, None), (&appending(TWO), None)],
        r#"{"run_cmd":["bash1","bash2","bash3","bash4"]}"#,
    );
}

/// "The default merging algorithm for merging 'conf.d' yaml files ... was also changed to use this
/// mechanism": in 2013 the specification of the result applies to the next file. In current
/// cloud-init a file specifies how it is merged below those of higher priority (S12).
#[test]
fn conf_d() {
    let run = |layings: &[MergeRules], files: &[&str]| {
        let files: Vec<Part<'_>> = files.iter().map(|file| (*file, None)).collect();
        merged(&nodes(&files), layings)
    };
    let how = "merge_how: dict(overwrite)\n";
    let files = [&*format!("{how}{ONE}"), TWO, "run_cmd: [z]\n"];
    let read_files: Vec<Node> = files.iter().map(|file| read(file)).collect();
    assert_eq!(
        run(&stack_of_many(&read_files), &files),
        r#"{"merge_how":"dict(overwrite)","run_cmd":["z"]}"#
    );

    let today = |files: &[&str]| {
        let laying = MergeRules::Current {
            header: None,
            default: Default::Many,
        };
        run(&vec![laying; files.len()], files)
    };
    assert_eq!(today(&[ONE, TWO]), json(ONE));
    let beneath = |how: &str| today(&[ONE, &format!("merge_how: {how}\n{TWO}")]);
    assert_eq!(
        beneath("dict(recurse_list)+list(append)"),
        r#"{"run_cmd":["bash1","bash2","bash3","bash4"]}"#
    );
    assert_eq!(
        beneath("dict(recurse_list)+list(prepend)"),
        r#"{"run_cmd":["bash3","bash4","bash1","bash2"]}"#
    );
    assert_eq!(beneath("dict(replace)"), json(TWO));
}

/// A part that is already canonical JSON.
fn json(text: &str) -> String {
    canonical(&read(text))
}
