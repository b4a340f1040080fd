//! Laws: after any edits, the state is that of a new server, and no question fails.

use std::fs;
use std::path::Path;

use layercake_yaml::FileId;
use layercake_yaml_testing::config;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::{examples, wait_for};
use crate::cli::Sandbox;
use crate::support::sample::is_thorough;

/// Files that are edited. The second one does not exist at first.
const FILES: [&str; 6] = [
    "global/config/software-versions.yaml",
    "site/west/charts/added.yaml",
    "type/cloud/charts/keystone.yaml",
    "site/west/site-definition.yaml",
    "layercake.yaml",
    "global/layering-policy.yaml",
];

const LINKED: &str = FILES[2];

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[cfg(not(unix))]
fn link(to: &Path, at: &Path) {
    drop(fs::copy(to, at));
}

/// An edit of a client or on disk.
#[derive(Clone, Debug)]
enum Edit {
    /// Replaces some characters of an open text.
    Type {
        file: Index,
        at: Index,
        removed: usize,
        text: &'static str,
    },
    /// Takes the last edit of an open text back.
    Undo { file: Index },
    /// Writes an open text to its file, and closes it.
    Save { file: Index },
    /// Removes a file.
    Remove { file: Index },
    /// Replaces a file by a symbolic link to one that others read, too.
    Link { file: Index },
    /// Switches between two branches.
    Switch,
}

fn edit() -> impl Strategy<Value = Edit> {
    let file = || any::<Index>();
    let text = prop::sample::select(vec![
        "",
        "x",
        ": ",
        "\n",
        "  ",
        "- ",
        "'",
        "[",
        "&a ",
        "*a",
        "# layercake: ignore[",
        "---\n",
        "schema: armada/Chart/v1\n",
        "name: keystone\n",
        "\u{1f34e}",
    ]);
    prop_oneof![
        6 => (file(), file(), 0_usize..12, text)
            .prop_map(|(file, at, removed, text)| Edit::Type { file, at, removed, text }),
        2 => file().prop_map(|file| Edit::Undo { file }),
        2 => file().prop_map(|file| Edit::Save { file }),
        1 => file().prop_map(|file| Edit::Remove { file }),
        1 => file().prop_map(|file| Edit::Link { file }),
        1 => Just(Edit::Switch),
    ]
}

/// Texts that are open in the client, with those before each edit.
struct Editor<'s> {
    sandbox: &'s Sandbox,
    client: Client,
    texts: Vec<Vec<String>>,
    version: usize,
}

impl Editor<'_> {
    fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Type {
                file,
                at,
                removed,
                text,
            } => {
                let file = file.index(FILES.len());
                let before = self.opened(file);
                let start = at.index(before.chars().count() + 1);
                let characters: Vec<char> = before.chars().collect();
                let end = characters.len().min(start + removed);
                let place = |index: usize| {
                    let before: String = characters[..index].iter().collect();
                    let line = before.matches('\n').count();
                    let column = before.chars().rev().take_while(|it| *it != '\n').count();
                    json!({"line": line, "character": column})
                };
                let after: String = characters[..start]
                    .iter()
                    .copied()
                    .chain(text.chars())
                    .chain(characters[end..].iter().copied())
                    .collect();
                let range = json!({"start": place(start), "end": place(end)});
                self.change(file, &json!([{"range": range, "text": text}]));
                self.texts[file].push(after);
            }
            Edit::Undo { file } => {
                let file = file.index(FILES.len());
                if self.texts[file].len() > 1 {
                    self.texts[file].pop();
                    let text = self.opened(file);
                    self.change(file, &json!([{"text": text}]));
                }
            }
            Edit::Save { file } => {
                let file = file.index(FILES.len());
                if let Some(text) = self.texts[file].pop() {
                    self.sandbox.write(FILES[file], text);
                    self.texts[file].clear();
                    self.client.close(&self.sandbox.path(FILES[file]));
                    self.reported(&[FILES[file], LINKED]);
                }
            }
            Edit::Remove { file } => {
                let file = FILES[file.index(FILES.len())];
                drop(fs::remove_file(self.sandbox.path(file)));
                self.reported(&[file]);
            }
            Edit::Link { file } => {
                let file = FILES[file.index(FILES.len())];
                if file != LINKED {
                    let path = self.sandbox.path(file);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    drop(fs::remove_file(&path));
                    link(&self.sandbox.path(LINKED), &path);
                    self.reported(&[file]);
                }
            }
            Edit::Switch => {
                let other = self.sandbox.git(&["rev-parse", "--abbrev-ref", "@{-1}"]);
                self.sandbox
                    .git(&["checkout", "--quiet", "--force", other.trim()]);
                self.reported(&FILES);
            }
        }
    }

    /// Restores the configuration, and each text that cannot be parsed: a new server does not know the
    /// documents that were read before.
    fn restore(&mut self, originals: &[String]) {
        for (file, original) in originals.iter().enumerate() {
            let text = self.opened(file);
            let parsed = layercake_yaml::parse(FileId::default(), &text);
            let mut problems = parsed.problems.iter();
            let is_broken = problems.any(|problem| problem.kind.is_fatal());
            if is_broken || FILES[file] == "layercake.yaml" {
                // It may be a link.
                drop(fs::remove_file(self.sandbox.path(FILES[file])));
                self.sandbox.write(FILES[file], original);
                self.reported(&[FILES[file], LINKED]);
                self.change(file, &json!([{"text": original}]));
                self.texts[file].push(original.clone());
            }
        }
    }

    /// The text of a file, which is opened if it is not yet.
    fn opened(&mut self, file: usize) -> String {
        if self.texts[file].is_empty() {
            let path = self.sandbox.path(FILES[file]);
            let text = fs::read_to_string(&path).unwrap_or_default();
            self.client.open(&path, &text);
            self.texts[file].push(text);
        }
        self.texts[file].last().expect("it is open").clone()
    }

    fn change(&mut self, file: usize, changes: &Json) {
        self.version += 1;
        let path = self.sandbox.path(FILES[file]);
        self.client.change(&path, self.version, changes.clone());
    }

    /// Reports files that changed on disk.
    fn reported(&self, files: &[&str]) {
        let changes = files
            .iter()
            .map(|file| json!({"uri": uri(&self.sandbox.path(file)), "type": 2}));
        let changes: Vec<Json> = changes.collect();
        self.client.notify(
            "workspace/didChangeWatchedFiles",
            json!({"changes": changes}),
        );
    }
}

/// Asks everything about a file.
fn answers(client: &mut Client, sandbox: &Sandbox, file: &str, line: usize) -> Vec<Json> {
    let answers = QUESTIONS
        .iter()
        .map(|method| answer(client, sandbox, method, file, line));
    answers.collect()
}

/// Asks something about a file, which may not fail.
fn answer(client: &mut Client, sandbox: &Sandbox, method: &str, file: &str, line: usize) -> Json {
    let position = json!({"line": line, "character": line % 7});
    let params = json!({
        "textDocument": {"uri": uri(&sandbox.path(file))},
        "position": position,
        "positions": [position],
        "range": {"start": {"line": 0, "character": 0}, "end": position},
        "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
    });
    let answer = client.request(method, params);
    answer.unwrap_or_else(|code| panic!("{method}: {code} at {file}:{line}"))
}

const QUESTIONS: [&str; 15] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentLink",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/prepareRename",
    "textDocument/prepareCallHierarchy",
    "textDocument/inlayHint",
];

/// A repository with two branches.
fn repository() -> Sandbox {
    let sandbox = examples();
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    let text = fs::read_to_string(sandbox.path(FILES[2])).unwrap();
    sandbox.write(FILES[2], text.replace("api: 3", "api: 4"));
    sandbox.write(FILES[4], "reach:\n  max-sites: 2\n");
    sandbox.commit();
    sandbox.git(&["checkout", "--quiet", "-"]);
    sandbox
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn state_after_any_edits_is_that_of_a_new_server(
        edits in prop::collection::vec(
            (edit(), any::<Index>(), 0_usize..40),
            1..if is_thorough() { 300 } else { 25 },
        ),
        is_watching in any::<bool>(),
    ) {
        let sandbox = repository();
        let text = |file| fs::read_to_string(sandbox.path(file)).unwrap_or_default();
        let originals = FILES.map(text);
        // Only for a client that watches files, texts are replaced without listing the files again.
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-32"]},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": is_watching}},
        });
        let settings = json!({"settings": {"layercake": {
            "site": "north", "inlayHints": {"enable": true},
        }}});
        let start = || {
            let (client, _) = Client::with_capabilities(&[&sandbox.root], capabilities.clone());
            client.notify("workspace/didChangeConfiguration", settings.clone());
            client
        };
        let texts = vec![Vec::new(); FILES.len()];
        let mut editor = Editor { sandbox: &sandbox, client: start(), texts, version: 1 };
        for (edit, asked, line) in &edits {
            editor.apply(edit);
            let file = FILES[asked.index(FILES.len())];
            let method = QUESTIONS[*line % QUESTIONS.len()];
            answer(&mut editor.client, &sandbox, method, file, *line);
        }
        editor.restore(&originals);
        let mut fresh = start();
        for (file, texts) in FILES.iter().zip(&editor.texts) {
            if let Some(text) = texts.last() {
                fresh.open(&sandbox.path(file), text);
            }
        }
        // An answer follows the reading, and the end of a session follows the findings.
        let document = json!({"textDocument": {"uri": uri(&sandbox.path(FILES[0]))}});
        for client in [&mut editor.client, &mut fresh] {
            client.request("textDocument/diagnostic", document.clone()).unwrap();
        }
        let expected = fresh.listed(&sandbox.root);
        prop_assert_eq!(&fresh.messages, &Vec::<String>::new());
        wait_for(&mut editor.client, &sandbox.root, &expected);
        for (file, (_, _, line)) in FILES.iter().cycle().zip(&edits).take(20) {
            let [found, expected] = [&mut editor.client, &mut fresh]
                .map(|client| answers(client, &sandbox, file, *line));
            for ((method, found), expected) in QUESTIONS.iter().zip(found).zip(expected) {
                prop_assert_eq!(found, expected, "{} at {}:{}", method, file, line);
            }
        }
    }
}
