//! The most dangerous changes come first, and what is left out is never more dangerous than what is
//! kept.

use super::{Sandbox, document};

/// What a change may break, most dangerous first, with the start of the documents' names.
const CLASSES: [&str; 6] = ["refused", "faulty", "open", "gone", "cut", "loose"];

/// Position of a class: an exposed secret is an error, as a faulty document.
fn rank(class: usize) -> usize {
    if CLASSES.get(class) == Some(&"open") {
        class - 1
    } else {
        class
    }
}

/// Numbers of the documents of each class, and of documents with harmless changes.
struct Case {
    dangerous: [usize; CLASSES.len()],
    harmless: usize,
}

/// Cases that differ in the classes and in the number of their documents.
fn cases() -> impl Iterator<Item = Case> {
    let mut state = 1_usize;
    let mut next = move |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % (most + 1)
    };
    (0..12).map(move |at| Case {
        dangerous: std::array::from_fn(|class| match CLASSES[class] {
            // A site that cannot be rendered has no other changes.
            "refused" => usize::from(at % 4 == 0),
            "faulty" => next(1),
            _ => next(3),
        }),
        harmless: 3 + next(20),
    })
}

impl Case {
    fn names(&self) -> impl Iterator<Item = (usize, String)> {
        let classes = self.dangerous.iter().chain([&self.harmless]).enumerate();
        classes.flat_map(|(class, count)| {
            let name = CLASSES.get(class).unwrap_or(&"calm");
            (0..*count).map(move |at| (class, format!("{name}-{at}-document")))
        })
    }

    /// A repository with a commit and these changes.
    fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::with_sites();
        let write = |name: &str, text: String| sandbox.write(&format!("global/{name}.yaml"), text);
        let secret = |policy: &str, name: &str| {
            let text = document(name, "global", &format!("{{key: {name}}}"));
            text.replace(
                "storagePolicy: cleartext",
                &format!("storagePolicy: {policy}"),
            )
        };
        let chart = |name: &str, release: &str| {
            let data = format!(
                "{{chart_name: {name}, {release}namespace: n, source: {{type: local, location: l, \
                 subpath: s}}}}"
            );
            document(name, "global", &data).replace("example/Any/v1", "armada/Chart/v1")
        };
        let substituting = |name: &str, source: &str| {
            let substitution = format!(
                "  substitutions:\n    - src: {{schema: example/Any/v1, name: {source}, path: .a}}\n      \
                 dest: {{path: .b}}\n"
            );
            document(name, "global", "{a: 1}").replace("\ndata:", &format!("\n{substitution}data:"))
        };
        let sides = |class: usize, name: &str| -> [Option<String>; 2] {
            let with = |data: String| Some(document(name, "global", &data));
            match CLASSES.get(class) {
                Some(&"refused") => [
                    with("{a: 1}".to_owned()),
                    Some(substituting(name, "nothing")),
                ],
                Some(&"faulty") => [Some(chart(name, "release: r, ")), Some(chart(name, ""))],
                Some(&"gone") => [with(format!("{{a: {name}}}")), None],
                Some(&"cut") => [
                    with(format!("{{map: {{a: {name}, b: 1}}, c: 1}}")),
                    with("{c: 1}".to_owned()),
                ],
                Some(&"loose") => [
                    with(format!("{{image: 'quay.io/{name}:1.0'}}")),
                    with(format!("{{image: 'quay.io/{name}:latest'}}")),
                ],
                Some(&"open") => [
                    Some(secret("encrypted", name)),
                    Some(secret("cleartext", name)),
                ],
                Some(_) | None => [
                    with(format!("{{a: 1, of: {name}}}")),
                    with(format!("{{a: 2-{name}, of: {name}}}")),
                ],
            }
        };
        for (class, name) in self.names() {
            write(
                &name,
                sides(class, &name)[0].clone().expect("a document before"),
            );
        }
        sandbox.commit();
        for (class, name) in self.names() {
            match &sides(class, &name)[1] {
                Some(text) => write(&name, text.clone()),
                None => {
                    std::fs::remove_file(sandbox.path(&format!("global/{name}.yaml"))).unwrap();
                }
            }
        }
        sandbox
    }

    /// Classes of the entries of a text, between the table of sites and the errors.
    fn order(&self, text: &str) -> Vec<usize> {
        let (_, entries) = text
            .split_once("\nsites ")
            .unwrap_or_else(|| panic!("no sites: {text}"));
        let (entries, _) = entries.rsplit_once("\n\n").expect("a closing verdict");
        let class = |entry: &str| {
            let named = self.names().filter(|(_, name)| entry.contains(&**name));
            named.map(|(class, _)| rank(class)).min()
        };
        let is_change = |entry: &&str| !entry.starts_with("error[");
        entries
            .split("\n\n")
            .filter(is_change)
            .filter_map(class)
            .collect()
    }
}

#[test]
fn more_dangerous_changes_come_first_and_are_kept() {
    for case in cases() {
        let sandbox = case.sandbox();
        let compare = ["lint", "--since", "HEAD"];
        for arguments in [&[][..], &["-v"]] {
            let shown = sandbox.run(&[&compare[..], arguments].concat()).stdout;
            let order = case.order(&shown);
            assert!(order.is_sorted(), "{order:?}\n{shown}");
        }
        for form in ["full", "comment"] {
            let shown = sandbox.run(&[&compare[..], &["-o", form]].concat()).stdout;
            let is_kept = |name: &str| shown.contains(name);
            let kept = case.names().filter(|(_, name)| is_kept(name));
            let left_out = case.names().filter(|(_, name)| !is_kept(name));
            let least = kept.map(|(class, _)| rank(class)).max();
            let worst = left_out.map(|(class, _)| rank(class)).min();
            assert!(
                worst.is_none() || worst >= least,
                "{form}: {worst:?} {least:?}\n{shown}"
            );
        }
    }
}

#[test]
fn removed_values_are_counted_whatever_is_listed() {
    let mapping = |count: usize, value: &str| {
        let entries: Vec<String> = (0..count).map(|at| format!("k{at}: {value}")).collect();
        format!("{{{}}}", entries.join(", "))
    };
    let long = "x".repeat(100);
    let cases = [
        // Longer than a value in a report.
        (
            format!("{{map: {}, c: 1}}", mapping(1_000, &long)),
            "{c: 1}".to_owned(),
            "2000 values",
        ),
        // More differences than are listed.
        (
            format!(
                "{{map: {}, all: {}}}",
                mapping(20, "1"),
                mapping(10_001, "1")
            ),
            format!("{{all: {}}}", mapping(10_001, "2")),
            "40 values",
        ),
        (
            format!(
                "{{all: {{a: {{map: {}}}, b: {}}}}}",
                mapping(20, "1"),
                mapping(10_001, "1")
            ),
            format!("{{all: {{a: {{}}, b: {}}}}}", mapping(10_001, "2")),
            "40 values",
        ),
    ];
    for (before, after, expected) in cases {
        let sandbox = Sandbox::with_sites();
        let write = |data: &str| sandbox.write("global/any.yaml", document("any", "global", data));
        write(&before);
        sandbox.commit();
        write(&after);
        let expected = format!("removes {expected} in 2 outputs");
        let shown = sandbox.run(&["lint", "--since", "HEAD"]).stdout;
        assert!(shown.contains(&expected), "{shown}");
        sandbox.commit();
        let shown = sandbox.run(&["log", "--limit", "1"]).stdout;
        assert!(shown.contains(&expected), "{shown}");
    }
}
