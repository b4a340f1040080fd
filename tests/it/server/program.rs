//! The program `layercake server`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value as Json, json};

use super::client::uri;
use crate::cli::Sandbox;

/// A running server.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Self {
        let mut process = sandbox
            .command(&["server", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    fn send(&mut self, message: &Json) {
        let text = message.to_string();
        let input = self.process.stdin.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn initialize(&mut self, sandbox: &Sandbox) {
        let folder = json!({"uri": uri(&sandbox.root), "name": "sites"});
        let params = json!({
            "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": [folder],
        });
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        assert_eq!(self.receive()["result"]["serverInfo"]["name"], "layercake");
        self.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    }

    /// Exit code, after the end of its input, and what it said on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.process.stdin.take());
        let output = self.process.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
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
