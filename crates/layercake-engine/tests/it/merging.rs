//! Merging as in cloud-init, beyond the recorded cases: spans, silently skipped values, secrets,
//! and time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use layercake_engine::merge::cloud_init::{
    Class, Default, Dialect, Excess, Fact, Failure, FailureKind, Incoming, Kept, MergeRules,
    Notice, Remains, Replaced, Settings, ShapeFault, Specification, SplitInto, stack,
};
use layercake_engine::merge::numbers::From;
use layercake_engine::merge::pattern::MAX_OUTPUT;
use layercake_engine::merge::{Failure as LayFailure, Notice as LayNotice, Strategy};
use layercake_engine_testing::{invalid_destinations, numbers, untrue};
use layercake_source::{FileId, NumberedInput, Span, Spanned};
use layercake_yaml::json::canonical;
use layercake_yaml::path::{Location, Path};
use layercake_yaml::{Mapping, Node, Origin, Value, parse};

/// Far longer than any of these tests takes in a debug build on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// Texts of parts, each in a file of its own.
#[derive(Default)]
struct Files(Vec<String>);

impl Files {
    fn part(&mut self, text: &str) -> Node {
        let file = FileId::new(u32::try_from(self.0.len()).expect("there are few parts"));
        let mut parsed = parse(file, text);
        assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
        self.0.push(text.to_owned());
        parsed.documents.remove(0).root
    }

    /// Text at a span.
    fn at(&self, span: Span) -> &str {
        &self.0[span.file.index()][span.range()]
    }
}

fn user_data() -> Strategy {
    Strategy::CloudInit(MergeRules::Current {
        header: None,
        default: Default::UserData,
    })
}

/// A part merged into another.
struct Merged {
    files: Files,
    base: Node,
    over: Node,
    result: Node,
    notices: Result<Vec<Notice>, Failure>,
}

fn merged(base: &str, over: &str) -> Merged {
    let mut files = Files::default();
    let (base, over) = (files.part(base), files.part(over));
    let mut result = base.clone();
    let notices = user_data()
        .merge(&mut result, &over)
        .map_err(|failure| match failure {
            LayFailure::CloudInit(failure) => failure,
            LayFailure::JsonPatch(_) => unreachable!("no patch is applied"),
        });
    let notices = notices.map(|notices| {
        notices
            .into_iter()
            .map(|LayNotice::CloudInit(notice)| notice)
            .collect()
    });
    Merged {
        files,
        base,
        over,
        result,
        notices,
    }
}

impl Merged {
    fn gives(&self, expected: &str) -> &Self {
        assert_eq!(canonical(&self.result), expected);
        self
    }

    /// Facts of the notices, with their places and the texts of both values.
    fn facts(&self) -> Vec<(String, &str, &str, Fact)> {
        let notices = self.notices.as_ref().expect("the merge succeeds").iter();
        notices
            .map(|it| {
                (
                    it.place.to_string(),
                    self.files.at(it.old),
                    self.files.at(it.at),
                    it.fact,
                )
            })
            .collect()
    }

    /// Failure, and the text at fault.
    fn fails(&self) -> (&FailureKind, &str) {
        let failure = self.notices.as_ref().expect_err("the merge fails");
        assert_eq!(
            canonical(&self.result),
            canonical(&self.base),
            "a failing merge changes nothing"
        );
        (&failure.kind, self.files.at(failure.at))
    }

    fn origin(&self, place: &str) -> Option<From> {
        let numbers = numbers(&user_data(), &self.base, &self.over);
        numbers.from(&location(&self.result, place))
    }

    fn destinations(&self, input: NumberedInput, place: &str) -> Vec<String> {
        let data = if input == NumberedInput::Before {
            &self.base
        } else {
            &self.over
        };
        let numbers = numbers(&user_data(), &self.base, &self.over);
        let places = numbers.destinations(input, &location(data, place));
        places.iter().map(Location::to_string).collect()
    }
}

/// Location that a path names.
fn location(data: &Node, path: &str) -> Location {
    let path = Path::parse(path).expect("a path");
    let found = path.first(data).expect("the path can be walked");
    found.expect("something is there").location
}

fn read(text: &str, dialect: Dialect) -> (Files, Result<Specification, Failure>) {
    let mut files = Files::default();
    let data = files.part(text);
    let read = Specification::read(&data, None, dialect);
    (files, read)
}

#[test]
fn faults_point_at_pieces_of_a_specification() {
    let texts = [
        (
            "merge_how: list( append , recurse_lst )+dict()\n",
            "list( append , recurse_lst )",
        ),
        (
            "merge_how: 'list(append,recurse_lst)+dict()'\n",
            "list(append,recurse_lst)",
        ),
    ];
    for (text, piece) in texts {
        let (files, read) = read(text, Dialect::Current);
        let read = read.expect("a valid specification");
        let list = read.first(Class::List).expect("it asks for `list`");
        assert_eq!(
            (files.at(list.at), files.at(list.name.span)),
            (piece, "list")
        );
        let unknown = &list.unknown_options(Dialect::Current)[..];
        let [unknown] = unknown else {
            panic!("{unknown:?}")
        };
        assert_eq!(files.at(unknown.word.span), "recurse_lst");
        assert_eq!(unknown.near, Some("recurse_list"));
    }
}

/// A scalar that is not written as it reads is pointed at as a whole.
#[test]
fn folded_and_escaped_specifications_are_pointed_at_as_a_whole() {
    let texts = [
        "merge_how: >-\n  list(append)\n  +dict()",
        "merge_how: list(append)\n  +dict()",
        "merge_how: \"list(append)\\x2bdict()\"",
        "merge_how: 'list(append) +dict()'",
        "merge_how: dict()+list(append,\u{e4})",
    ];
    for text in texts {
        let (files, read) = read(text, Dialect::Current);
        let read = read.expect("a valid specification");
        let list = read.first(Class::List).expect("it asks for `list`");
        assert_eq!(
            files.at(list.at).trim_end(),
            text.strip_prefix("merge_how: ").expect("so")
        );
    }
}

#[test]
fn faults_of_specifications_name_their_place() {
    let fault = |text: &str| {
        let (files, read) = read(text, Dialect::Current);
        let failure = read.expect_err("an invalid specification");
        (
            files.at(failure.at).to_owned(),
            format!("{:?}", failure.kind),
        )
    };
    let of = |at: &str, kind: &str| (at.to_owned(), kind.to_owned());
    assert_eq!(fault("merge_how: dict()+list"), of("list", "Format"));
    assert_eq!(
        fault("merge_how: dict()+lists()"),
        of(
            "lists",
            "UnknownClass { name: \"lists\", near: Some(List) }"
        )
    );
    assert_eq!(
        fault("merge_how: [{name: LIST, settings: []}]"),
        of("LIST", "UnknownClass { name: \"LIST\", near: Some(List) }")
    );
    assert_eq!(
        fault("merge_how: string(append)"),
        of(
            "string",
            "UnknownClass { name: \"string\", near: Some(Str) }"
        )
    );
    assert_eq!(
        fault("merge_how: 7"),
        of("7", "Shape(Specification(\"an integer\"))")
    );
    assert_eq!(fault("merge_how: [[]]"), of("[]", "Shape(EmptyItem)"));
    assert_eq!(
        fault("merge_how: [{name: dict}]"),
        of("{name: dict}", "Shape(MissingSettings)")
    );
    assert_eq!(
        fault("merge_how: [{name: dict, settings: 5}]"),
        of("5", "Shape(Settings(\"an integer\"))")
    );
}

/// All items are parsed before any name is looked up, and all names are looked up before any
/// settings are read (4).
#[test]
fn faults_of_specifications_come_in_order() {
    let kind = |text: &str| read(text, Dialect::Current).1.expect_err("a fault").kind;
    let bad_settings = "{name: dict, settings: 5}";
    let unknown = "{name: foo, settings: []}";
    let names_foo = |kind: FailureKind| matches!(kind, FailureKind::UnknownClass { name, .. } if &*name == "foo");
    assert!(names_foo(kind(&format!(
        "merge_how: [{bad_settings}, {unknown}]"
    ))));
    assert!(!names_foo(kind(&format!(
        "merge_how: [{unknown}, {{name: dict}}]"
    ))));
    assert!(names_foo(kind(&format!("merge_how: [{unknown}, [5]]"))));
    assert!(!names_foo(kind(&format!("merge_how: [[5], {unknown}]"))));
}

/// Other values that Python can iterate over, or splits as if they were a list (4).
#[test]
fn structures_are_read_as_python_reads_them() {
    let asked = |text: &str| {
        let read = read(text, Dialect::Current)
            .1
            .map_err(|failure| failure.kind)?;
        let options = |class: Class, settings: &Settings| {
            let options = class.options(Dialect::Current).iter();
            options
                .copied()
                .filter(|it| settings.has(it))
                .collect::<Vec<_>>()
                .join(",")
        };
        let requests = read.requests.iter();
        Ok(requests
            .map(|it| format!("{}({})", it.name.value, options(it.class, &it.settings)))
            .collect::<Vec<_>>()
            .join("+"))
    };
    let gives = |text: &str, expected: &str| {
        assert_eq!(
            asked(&format!("merge_how: {text}\n")),
            Ok(expected.to_owned()),
            "{text}"
        );
    };
    gives(
        "!!pairs [list: append, dict: replace]",
        "list(append)+dict(replace)",
    );
    gives(
        "[{name: m-list, settings: {append: 1, 2: 3}}]",
        "m_list(append)",
    );
    gives("[{name: dict, settings: !!set {replace}}]", "dict(replace)");
    gives("[{name: dict, settings: !!pairs [replace: 1]}]", "dict()");
    gives(
        "[{name: dict, settings: [no-replace, Replace, ' replace']}]",
        "dict()",
    );
    gives(
        "[{name: dict, settings: no_replace}]",
        "dict(replace,no_replace)",
    );
    gives("[[dict, [replace]], [list, append]]", "dict()+list(append)");
    gives("[[~], ['', x], [0], !!binary 'AA=='] ", "");
    gives("{}", "");
    gives("!!binary ''", "");
    let fault = |text: &str| asked(&format!("merge_how: {text}\n")).expect_err(text);
    assert_eq!(fault("['']"), FailureKind::Shape(ShapeFault::EmptyItem));
    assert_eq!(
        fault("2001-01-01"),
        FailureKind::Shape(ShapeFault::Specification("a date"))
    );
    assert_eq!(
        fault("[!!set {a}]"),
        FailureKind::Shape(ShapeFault::Item("a set"))
    );
    assert_eq!(
        fault("[!!binary 'AQ==']"),
        FailureKind::Shape(ShapeFault::Name("an integer"))
    );
    assert_eq!(
        fault("[{name: ~, settings: []}]"),
        FailureKind::Shape(ShapeFault::Name("null"))
    );
    // The first character is used as the name.
    let FailureKind::UnknownClass { name, .. } = fault("[list(append)]") else {
        panic!("a name")
    };
    assert_eq!(&*name, "l");
}

#[test]
fn words_of_2013_have_a_modern_spelling() {
    let text = "merge_how: dict(overwrite)+list(extend,discard_non_list)+str(append)";
    let (_, current) = read(text, Dialect::Current);
    let current = current.expect("a valid specification");
    let unknown = current
        .requests
        .iter()
        .flat_map(|it| it.unknown_options(Dialect::Current));
    let unknown: Vec<_> = unknown
        .map(|it| (it.word.value.to_string(), it.near))
        .collect();
    let expected = [
        ("overwrite", Some("replace")),
        ("extend", Some("append")),
        ("discard_non_list", None),
    ];
    assert_eq!(
        unknown,
        expected.map(|(word, near)| (word.to_owned(), near))
    );

    let (_, documented) = read(text, Dialect::Documented);
    let documented = documented.expect("a valid specification");
    let mut requests = documented.requests.iter();
    assert!(requests.all(|it| it.unknown_options(Dialect::Documented).is_empty()));
    assert!(
        read("merge_how: m_dict()", Dialect::Documented).1.is_err(),
        "2013 had no prefix `m_`"
    );
}

#[test]
fn class_listed_twice_is_dead() {
    let (_, read) = read("merge_how: dict()+m_dict(replace)+list()", Dialect::Current);
    let read = read.expect("a valid specification");
    let dead: Vec<_> = read
        .dead()
        .map(|(it, first)| (&*it.name.value, &*first.name.value))
        .collect();
    assert_eq!(dead, [("m_dict", "dict")]);
}

#[test]
fn lost_value_is_reported_with_its_reason() {
    let how = "merge_how: dict(recurse_str)+str()\n";
    let base = "scalar: 1\nlist: [1]\ntext: old\nmap: {a: 1}\nsame: 1\nnull: 5\n";
    let over =
        format!("{how}scalar: 2\nlist: [2]\ntext: new\nmap: text\nsame: 1.0\n'null': ~\nnull: ~\n");
    let merged = merged(base, &over);
    merged.gives(
        r#"{"!!null":5,"list":[1],"map":{"a":1},"null":null,"same":1,"scalar":1,"text":"new"}"#,
    );
    assert_eq!(
        merged.facts(),
        [
            (".scalar".to_owned(), "1", "2", Fact::Lost(Kept::Scalar)),
            (
                ".list".to_owned(),
                "[1]",
                "[2]",
                Fact::Lost(Kept::NoListRecursion)
            ),
            (
                ".map".to_owned(),
                "{a: 1}",
                "text",
                Fact::Lost(Kept::NotAMapping)
            ),
            (
                ".null".to_owned(),
                "5",
                "~",
                Fact::NullWithoutDelete(Remains::Old)
            ),
            // Beside the lost values; with the key of the old string.
            (
                ".text".to_owned(),
                "text",
                "new",
                Fact::Replaced(Replaced::Text)
            ),
        ]
    );
}

#[test]
fn part_without_dict_is_reported_as_lost() {
    let merged = merged("a: 1\n", "merge_how: list(append)\na: 2\n");
    merged.gives(r#"{"a":1}"#);
    let facts = merged.facts();
    assert_eq!(facts.len(), 1);
    assert_eq!(
        (&*facts[0].0, facts[0].3),
        (".", Fact::Lost(Kept::MissingClass(Class::Dict)))
    );
}

#[test]
fn missing_classes_and_types_are_reported() {
    let how = "merge_how: dict(recurse_list,recurse_str)\n";
    let merged = merged(
        "a: [1]\nb: text\nc: 1\n",
        &format!("{how}a: [2]\nb: new\nc: {{d: 1}}\n"),
    );
    let reasons: Vec<Fact> = merged.facts().into_iter().map(|it| it.3).collect();
    let expected = [
        Kept::MissingClass(Class::List),
        Kept::MissingClass(Class::Str),
        Kept::UnhandledType,
    ];
    assert_eq!(reasons, expected.map(Fact::Lost));
}

#[test]
fn lists_that_lose_items_are_reported() {
    let merged = merged(
        "a: [1, 2]\nb: [1]\nc: [1]\n",
        "merge_how: dict(recurse_list)+list()\na: [3]\nb: [3, 4]\nc: [5]\n",
    );
    merged.gives(r#"{"a":[3,2],"b":[3],"c":[5]}"#);
    assert_eq!(
        merged.facts(),
        [
            (
                ".a".to_owned(),
                "[1, 2]",
                "[3]",
                Fact::OtherLength { old: 2, new: 1 }
            ),
            (
                ".b".to_owned(),
                "[1]",
                "[3, 4]",
                Fact::OtherLength { old: 1, new: 2 }
            ),
            (
                ".c".to_owned(),
                "[1]",
                "[5]",
                Fact::Replaced(Replaced::Items)
            ),
        ]
    );
}

#[test]
fn texts_and_mappings_in_lists_are_reported() {
    let merged = merged(
        "a: [1]\nb: [1]\nc: [1]\n",
        "merge_how: dict(recurse_str)+list(append)\na: xy\nb: {k: 1}\nc: ''\n",
    );
    merged.gives(r#"{"a":[1,"x","y"],"b":[1,"k"],"c":[1]}"#);
    assert_eq!(
        merged.facts(),
        [
            (
                ".a".to_owned(),
                "[1]",
                "xy",
                Fact::SplitInto(SplitInto::Characters)
            ),
            (
                ".b".to_owned(),
                "[1]",
                "{k: 1}",
                Fact::SplitInto(SplitInto::Keys)
            ),
        ]
    );
    assert_eq!(
        merged.destinations(NumberedInput::Source, ".a"),
        [".a[1]", ".a[2]"]
    );
    assert_eq!(
        merged.destinations(NumberedInput::Source, ".b.k"),
        [".b[1]"]
    );
}

#[test]
fn null_that_deletes_nothing_is_reported() {
    let merged = merged("a: 1\nb: ~\n", "a: ~\nb: ~\nc: ~\n");
    merged.gives(r#"{"a":null,"b":null,"c":null}"#);
    let expected = (
        ".a".to_owned(),
        "1",
        "~",
        Fact::NullWithoutDelete(Remains::Null),
    );
    assert_eq!(merged.facts(), [expected]);
}

#[test]
fn deleted_keys_are_gone_and_have_a_reason() {
    let merged = merged(
        "a: 1\nb: 2\nc: 3\n",
        "merge_how: dict(allow_delete)\na: ~\nc: ~\nd: ~\n",
    );
    merged.gives(r#"{"b":2,"d":null}"#);
    assert_eq!(merged.facts(), []);
    let gone = location(&merged.base, ".c");
    assert_eq!(
        numbers(&user_data(), &merged.base, &merged.over).from(&gone),
        None
    );
}

#[test]
fn more_notices_than_the_limit_are_counted() {
    let keys = |value: &str| {
        (0..500)
            .map(|it| format!("k{it}: {value}\n"))
            .collect::<String>()
    };
    let merged = merged(&keys("1"), &format!("merge_how: dict()\n{}", keys("2")));
    let notices = merged.notices.as_ref().expect("the merge succeeds");
    assert_eq!(notices.len(), Notice::LIMIT + 1);
    let further = notices.last().expect("there are some");
    assert_eq!(
        further.fact,
        Fact::Further {
            count: 500 - Notice::LIMIT
        }
    );
}

#[test]
fn failing_merge_changes_nothing() {
    let failing = merged(
        "z: 1\na: {b: text}\n",
        "merge_how: dict(recurse_list)+str(append)\nz: 2\na: {c: 1, b: [1]}\nd: 1\n",
    );
    let (kind, text) = failing.fails();
    assert_eq!(text, "[1]");
    let FailureKind::AppendedToText { old, place, found } = kind else {
        panic!("{kind:?}")
    };
    let fault = (failing.files.at(*old), place.to_string(), *found);
    assert_eq!(fault, ("text", ".a.b".to_owned(), "a list"));

    let failing = merged(
        "a: [1]\n",
        "merge_how: dict()+list(no_replace)\na: {b: 1}\n",
    );
    assert!(matches!(
        failing.fails(),
        (FailureKind::MappingForList { .. }, "{b: 1}")
    ));
    // Python finds the index it looks for.
    merged(
        "a: [1]\n",
        "merge_how: dict()+list(no_replace)\na: {0: 1}\n",
    )
    .gives(r#"{"a":[1]}"#);
}

#[test]
fn values_keep_the_spans_of_their_source() {
    let merged = merged(
        "a: {x: 1, y: 2}\nl: [1, 2]\nt: old\n",
        "merge_how: dict(recurse_list,recurse_str)+list(prepend)+str(append)\n\
         a: {z: 3}\nl: [3]\nt: new\n",
    );
    merged.gives(r#"{"a":{"x":1,"y":2,"z":3},"l":[3,1,2],"t":"oldnew"}"#);
    let text = |path: &str| {
        let node = location(&merged.result, path)
            .get(&merged.result)
            .expect("it is there");
        (merged.files.at(node.span), node.origin)
    };
    assert_eq!(text(".a"), ("{z: 3}", Origin::Written));
    assert_eq!(text(".a.x"), ("1", Origin::Written));
    assert_eq!(text(".l"), ("[3]", Origin::Written));
    assert_eq!(text(".t"), ("old", Origin::Derived));
    let at = |path: &str| location(&merged.result, path);
    assert_eq!(
        merged.origin(".l[0]"),
        Some(From::Moved(NumberedInput::Source, at(".l[0]")))
    );
    assert_eq!(
        merged.origin(".l[2]"),
        Some(From::Moved(NumberedInput::Before, at(".l[1]")))
    );
    assert_eq!(
        merged.origin(".t"),
        Some(From::Built {
            text: at(".t"),
            part: Some(at(".t"))
        })
    );
    assert_eq!(
        merged.destinations(NumberedInput::Before, ".l[0]"),
        [".l[1]"]
    );
}

/// Pairs are lists to Python; a merged one becomes a list of lists, and its items trace back to
/// the list of pairs.
#[test]
fn lists_of_pairs_merge_as_lists() {
    let how = "merge_how: dict(recurse_list)+list(append)\n";
    let merged = merged("a: !!pairs [x: 1]\n", &format!("{how}a: [2]\n"));
    merged.gives(r#"{"a":[["x",1],2]}"#);
    let list = location(&merged.base, ".a");
    assert_eq!(
        merged.origin(".a[0][1]"),
        Some(From::Moved(NumberedInput::Before, list))
    );
}

/// The existing key stays, in its own spelling (5, "Python equality leaks").
#[test]
fn key_stays_as_it_was_first_written() {
    let merged = merged("1: a\n", "true: b\n");
    let keys = merged.result.as_mapping().expect("a mapping").keys();
    let keys: Vec<_> = keys
        .map(|key| (key.value.clone(), merged.files.at(key.span)))
        .collect();
    assert_eq!(keys, [(Value::Int(1), "1")]);
    merged.gives(r#"{"!!int:1":"b"}"#);
}

#[test]
fn values_made_of_a_secret_are_secret() {
    let how = "merge_how: dict(recurse_list,recurse_str)+list(append)+str(append)\n";
    let mut files = Files::default();
    let base = files.part("t: old\nl: [1]\nm: [1]\n");
    let over = files
        .part(&format!("{how}t: new\nl: characters\nm: {{key: 1}}\n"))
        .into_secret();
    let mut result = base.clone();
    user_data()
        .merge(&mut result, &over)
        .expect("the merge succeeds");
    let made = [".t", ".l[1]", ".m[1]"];
    for path in made {
        let node = location(&result, path)
            .get(&result)
            .cloned()
            .expect("it is there");
        assert!(node.secret, "{path} is {node:?}");
    }
    let open = location(&result, ".l[0]");
    assert!(
        !open.get(&result).expect("it is there").secret,
        "public values stay public"
    );

    let mut result = over.clone();
    let notices = user_data().merge(&mut result, &files.part("merge_how: list()\nt: x\n"));
    assert!(
        notices
            .expect("the merge succeeds")
            .iter()
            .all(|LayNotice::CloudInit(notice)| notice.secret)
    );
    let failing = files.part("merge_how: nope()\n").into_secret();
    let failure = user_data()
        .merge(&mut result, &failing)
        .expect_err("it has no such class");
    assert!(matches!(
        failure,
        LayFailure::CloudInit(Failure { secret: true, .. })
    ));
}

/// A header has the same effect as the part's own settings, which have precedence, class by class
/// (6).
#[test]
fn header_has_lower_precedence_than_the_part() {
    let mut files = Files::default();
    let (base, over) = (
        files.part("a: [1]\n"),
        files.part("merge_how: dict(recurse_list)\na: [2]\n"),
    );
    let header = files.part("header: list(append)+dict(replace)\n");
    let header = header.get("header").expect("it is there");
    let laying = MergeRules::Current {
        header: Some(Spanned::new(
            header.as_str().expect("text").into(),
            header.span,
        )),
        default: Default::UserData,
    };
    let mut result = base.clone();
    Strategy::CloudInit(laying)
        .merge(&mut result, &over)
        .expect("the merge succeeds");
    assert_eq!(canonical(&result), r#"{"a":[1,2]}"#);
}

/// In a pair made from two, each part is attributed to its own side; the pair was attributed to
/// the old one as a whole (found by fuzzing).
#[test]
fn pair_made_of_two_is_attributed_to_both() {
    let pairs = [
        "!!pairs [{k: [1]}]",
        "!!pairs [{k: text}]",
        "[[k, [1]]]",
        "[[k, text], 2]",
    ];
    for options in ["", "append", "prepend", "no_replace"] {
        for recursion in ["recurse_list", "recurse_list,recurse_str", "recurse_array"] {
            for (lower, upper) in pairs.iter().flat_map(|it| pairs.map(|other| (it, other))) {
                let how = format!(
                    "list({options},{recursion})+dict(recurse_list,recurse_array)+str(append)"
                );
                let merged = merged(
                    &format!("a: {lower}\n"),
                    &format!("merge_how: \"{how}\"\na: {upper}\n"),
                );
                // A text and a list cannot be concatenated.
                if merged.notices.is_err() {
                    continue;
                }
                let wrong = [
                    untrue(&user_data(), &merged.base, &merged.over, &merged.result),
                    invalid_destinations(&user_data(), &merged.base, &merged.over, &merged.result),
                ]
                .concat();
                assert!(
                    wrong.is_empty(),
                    "{how} {lower} {upper}: {}",
                    wrong.join("\n")
                );
            }
        }
    }
}

/// In 2013, an unknown class drops the part that it would merge.
#[test]
fn dialect_of_2013_drops_the_part_after_an_unknown_class() {
    let mut files = Files::default();
    let parts = [
        "a: [1]\nmerge_how: foo()\n",
        "a: [2]\n",
        "a: [3]\n",
        "merge_how: dict\na: [4]\n",
        "a: [5]\n",
    ];
    let parts: Vec<Node> = parts.iter().map(|text| files.part(text)).collect();
    let layings = stack(parts.iter().map(|data| Incoming { data, header: None }));
    let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), parts[0].span);
    let merged: Vec<bool> = parts
        .iter()
        .zip(&layings)
        .map(|(part, laying)| {
            Strategy::CloudInit(laying.clone())
                .merge(&mut result, part)
                .is_ok()
        })
        .collect();
    assert_eq!(merged, [true, false, true, false, true]);
    assert_eq!(canonical(&result), r#"{"a":[1,3,5],"merge_how":"foo()"}"#);
}

/// Ten thousand parts take time in proportion to their size: the result is changed in place.
#[test]
fn ten_thousand_parts_are_merged_in_bounded_time() {
    let how = "merge_how: dict(recurse_list,allow_delete)+list(append)\n";
    let mut files = Files::default();
    let parts: Vec<Node> = (0..10_000)
        .map(|it| {
            files.part(&format!(
                "{how}l: [{it}]\nm: {{k{it}: 1, gone: {}}}\nk{it}: 1\n",
                if it % 2 == 0 { "1" } else { "~" }
            ))
        })
        .collect();
    let mut result = Node::new(Value::Mapping(Arc::new(Mapping::new())), parts[0].span);
    let start = Instant::now();
    for part in &parts {
        user_data()
            .merge(&mut result, part)
            .expect("the merge succeeds");
    }
    let elapsed = start.elapsed();
    assert!(elapsed < MAX_DURATION, "{elapsed:?}");
    let length = |path: &str| {
        let node = location(&result, path).get(&result).expect("it is there");
        node.as_sequence()
            .map(<[Node]>::len)
            .or(node.as_mapping().map(Mapping::len))
    };
    assert_eq!((length(".l"), length(".m")), (Some(10_000), Some(10_000)));
    assert_eq!(result.as_mapping().map(Mapping::len), Some(10_002));
}

/// A part that deletes as many keys as there are.
#[test]
fn many_deletions_are_made_in_bounded_time() {
    let keys = |value: &str| {
        (0..50_000)
            .map(|it| format!("k{it}: {value}\n"))
            .collect::<String>()
    };
    let start = Instant::now();
    let merged = merged(
        &keys("1"),
        &format!("merge_how: dict(allow_delete)\n{}", keys("~")),
    );
    assert!(start.elapsed() < MAX_DURATION, "{:?}", start.elapsed());
    merged.gives("{}");
}

/// A text is not split into characters if these would be more nodes than a document may have.
#[test]
fn text_too_long_to_be_split_is_refused() {
    let text = "x".repeat(5_000_001);
    let failing = merged(
        "a: []\n",
        &format!("merge_how: dict(recurse_str)+list(append)\na: {text}\n"),
    );
    assert!(matches!(
        failing.fails().0,
        FailureKind::OverLimit {
            excess: Excess::Items,
            ..
        }
    ));
}

/// A text does not grow beyond the limit for patterns either.
#[test]
fn text_too_long_to_be_concatenated_is_refused() {
    let text = "x".repeat(MAX_OUTPUT / 2 + 1);
    let how = "merge_how: dict(recurse_str)+str(append)\n";
    let failing = merged(&format!("a: {text}\n"), &format!("{how}a: {text}\n"));
    assert!(matches!(
        failing.fails().0,
        FailureKind::OverLimit {
            excess: Excess::Text,
            ..
        }
    ));
}
