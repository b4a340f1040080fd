use layercake::report::documents::write;
use layercake::report::{DocumentOptions, RenderedDocument, SiteDocuments};
use layercake::source::{DocKey, RepoPath};
use layercake::yaml::{Key, Mapping, Node, Value, parse};

use super::Files;

#[test]
fn documents_are_printed_in_sequence() {
    assert_eq!(
        shown(Some("aiab"), "a.yaml", DocumentOptions::default()),
        "---\n# aiab · a.yaml:7\nschema: s/v1\nmetadata:\n  name: doc\ndata: value\n".repeat(2)
    );
    assert_eq!(
        shown(None, "a.yaml", DocumentOptions { with_origin: true, ..DocumentOptions::default() }),
        "---\n# a.yaml:7\nschema: s/v1\nmetadata:\n  name: doc  # a.yaml:2\ndata: value  # a.yaml:2\n"
            .repeat(2)
    );
}

#[test]
fn name_cannot_inject_a_document() {
    let plain = shown(Some("x"), "x.yaml", DocumentOptions::default());
    for end in ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
        let evil = format!("x{end}injected: 1{end}---{end}");
        let look = DocumentOptions {
            with_origin: true,
            ..DocumentOptions::default()
        };
        let text = shown(Some(&evil), &evil, look);
        let read = |text: &str| {
            let parsed = parse(Files::default().sources.upcoming(), text);
            assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
            parsed
                .documents
                .into_iter()
                .map(|it| it.root)
                .collect::<Vec<_>>()
        };
        assert_eq!(read(&text), read(&plain), "{text}");
    }
}

fn shown(site: Option<&str>, path: &str, look: DocumentOptions) -> String {
    let files = Files::new(&[(path, "\n«a:here»\n")]);
    let span = files.at('a');
    let text = |text: &str| Node::new(Value::String(text.into()), span);
    let mut metadata = Mapping::new();
    metadata.insert(Key::string("name", span), text("doc"));
    let document = RenderedDocument {
        key: DocKey::new("s/v1", "site", "n"),
        metadata: Node::new(Value::Mapping(metadata.into()), span),
        data: text("value"),
        file: RepoPath::new(path),
        line: 7,
    };
    let documents = vec![document.clone(), document];
    let mut out = Vec::new();
    let sites = [SiteDocuments {
        site: site.map(Into::into),
        documents,
    }];
    write(&sites, &files.view(), look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
