//! The program `layercake server`.

use std::io::{BufRead, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::client::uri;
use crate::cli::Sandbox;
use crate::cli::piped::Piped;

/// A running server.
struct Server(Piped);

impl Server {
    fn start(sandbox: &Sandbox) -> Self {
        Self(Piped::start(sandbox, &["server", "--stdio"]))
    }

    fn send(&mut self, message: &Json) {
        let text = message.to_string();
        let input = self.0.input();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.output.read_line(&mut line).unwrap();
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.0.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn initialize(&mut self, sandbox: &Sandbox) {
        self.initialize_for(sandbox, &Json::Null);
    }

    /// Initializes it for a client with this process.
    fn initialize_for(&mut self, sandbox: &Sandbox, process: &Json) {
        let folder = json!({"uri": uri(&sandbox.root), "name": "sites"});
        let params = json!({
            "processId": process, "rootUri": null, "capabilities": {}, "workspaceFolders": [folder],
        });
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        assert_eq!(self.receive()["result"]["serverInfo"]["name"], "layercake");
        self.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    }

    fn notify(&mut self, method: &str, params: &Json) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Waits for the findings of a document.
    fn wait_for_findings(&mut self, id: usize, document: &str) {
        let params = json!({"textDocument": {"uri": document}});
        let method = "textDocument/diagnostic";
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        while self.receive()["id"] != id {}
    }

    /// Resident memory in KiB.
    #[cfg(target_os = "linux")]
    fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.process.id()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok())
            .unwrap()
    }

    /// Exit code, after the end of its input, and what it said on standard error.
    fn end(self) -> (Option<i32>, String) {
        self.0.end()
    }
}

#[test]
fn exit_code_says_whether_it_was_shut_down() {
    let sandbox = Sandbox::with_sites();
    let mut server = Server::start(&sandbox);
    server.initialize(&sandbox);
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    loop {
        let message = server.receive();
        if message["id"] == 2 {
            assert_eq!(message["result"], Json::Null);
            break;
        }
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(server.end(), (Some(0), String::new()));

    let mut server = Server::start(&sandbox);
    server.initialize(&sandbox);
    server.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(server.end(), (Some(1), String::new()));
}

#[test]
fn end_of_input_ends_it() {
    let sandbox = Sandbox::with_sites();
    assert_eq!(Server::start(&sandbox).end(), (Some(1), String::new()));
    let mut server = Server::start(&sandbox);
    server.initialize(&sandbox);
    assert_eq!(server.end(), (Some(1), String::new()));
}

/// The input stays open, as if another process had it, too.
#[cfg(unix)]
#[test]
fn end_of_the_process_of_the_client_ends_it() {
    let sandbox = Sandbox::with_sites();
    let mut client = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let mut server = Server::start(&sandbox);
    server.initialize_for(&sandbox, &json!(client.id()));
    client.kill().unwrap();
    client.wait().unwrap();
    let killed = Instant::now();
    let code = loop {
        if let Some(status) = server.0.process.try_wait().unwrap() {
            break status.code();
        }
        assert!(killed.elapsed() < Duration::from_secs(2), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(1));
}

/// Code of LSP.
const NOT_INITIALIZED: i32 = -32002;

#[test]
fn message_before_it_is_initialized_is_refused() {
    let sandbox = Sandbox::with_sites();
    let mut server = Server::start(&sandbox);
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}));
    assert_eq!(server.receive()["error"]["code"], NOT_INITIALIZED);
    server.initialize(&sandbox);
    assert_eq!(server.end().0, Some(1));
}

/// A schema and the documents that it validates, with values that are new in each edit.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_edits() {
    let sandbox = Sandbox::with_sites();
    let text = |edit: usize| {
        let schema = format!(
            "---\nschema: deckhand/DataSchema/v1\nmetadata:\n  schema: metadata/Control/v1\n  \
             name: example/List/v1\ndata:\n  $schema: http://json-schema.org/schema#\n  \
             additionalProperties: {{pattern: '^(a|b{edit})*'}}\n"
        );
        let document = "---\nschema: example/List/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
                        name: list\n  layeringDefinition: {abstract: false, layer: global}\ndata:\n";
        let values =
            (0..2_000).map(|key| format!("  key-{key}: some long text of the edit {edit}\n"));
        [schema, document.to_owned()]
            .into_iter()
            .chain(values)
            .collect::<String>()
    };
    sandbox.write("global/list.yaml", text(0));
    let document = uri(&sandbox.root.join("global/list.yaml"));

    let mut server = Server::start(&sandbox);
    server.initialize(&sandbox);
    let item = json!({"uri": document, "languageId": "yaml", "version": 0, "text": text(0)});
    server.notify("textDocument/didOpen", &json!({"textDocument": item}));
    let mut edit_until = |edits: std::ops::Range<usize>| {
        for edit in edits {
            let changes = [json!({"text": text(edit)})];
            let of = json!({"uri": document, "version": edit});
            let params = json!({"textDocument": of, "contentChanges": changes});
            server.notify("textDocument/didChange", &params);
            server.wait_for_findings(edit, &document);
        }
        server.memory()
    };
    let before = edit_until(2..12);
    let after = edit_until(12..100);
    assert!(after * 5 < before * 6, "{before} KiB, then {after} KiB");
}
