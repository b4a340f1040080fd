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
