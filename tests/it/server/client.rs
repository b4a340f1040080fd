//! A client in this process.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use layercake::certificate::CheckTime;
use layercake::commands::CheckClock;
use layercake::server::{self, Ended};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value as Json, json};

/// Time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client with the messages that the server sent. Dropping it fails if there are some that the test
/// did not read.
pub struct Client {
    connection: Option<Connection>,
    server: Option<JoinHandle<Ended>>,
    last_id: i32,
    /// Diagnostics by address, as last published.
    pub published: BTreeMap<String, Json>,
    /// Messages for the user.
    pub messages: Vec<String>,
}

/// Address of a file.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts a server for these folders. The encodings are those that the client prefers.
    pub fn start(folders: &[&Path], encodings: Json) -> (Self, Json) {
        Self::with_capabilities(
            folders,
            json!({"general": {"positionEncodings": encodings}}),
        )
    }

    /// Starts a server for these folders, as a client with these capabilities.
    pub fn with_capabilities(folders: &[&Path], capabilities: Json) -> (Self, Json) {
        let (client, server) = Connection::memory();
        let today = CheckTime::day_of(SystemTime::now());
        let server = thread::spawn(move || {
            server::serve(server, CheckClock::At(today)).expect("the client keeps to LSP")
        });
        let mut client = Self {
            connection: Some(client),
            server: Some(server),
            last_id: 0,
            published: BTreeMap::new(),
            messages: Vec::new(),
        };
        let folders: Vec<Json> = folders
            .iter()
            .map(|path| json!({"uri": uri(path), "name": "folder"}))
            .collect();
        let result = client.request(
            "initialize",
            json!({
                "processId": null,
                "rootUri": null,
                "capabilities": capabilities,
                "workspaceFolders": folders,
            }),
        );
        client.notify("initialized", json!({}));
        (client, result.expect("it can be initialized"))
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("the session is open")
    }

    pub fn notify(&self, method: &str, params: Json) {
        let message = Notification::new(method.to_owned(), params);
        self.connection().sender.send(message.into()).unwrap();
    }

    /// The result, or the code of the error.
    pub fn request(&mut self, method: &str, params: Json) -> Result<Json, i32> {
        self.last_id += 1;
        let id = RequestId::from(self.last_id);
        let message = Request::new(id.clone(), method.to_owned(), params);
        self.connection().sender.send(message.into()).unwrap();
        loop {
            match self.receive().expect("an answer") {
                Message::Response(response) => {
                    assert_eq!(response.id, id);
                    return response.response_result.map_err(|error| error.code);
                }
                Message::Notification(notification) => self.take(notification),
                Message::Request(request) => self.answer(request),
            }
        }
    }

    fn receive(&self) -> Option<Message> {
        self.connection().receiver.recv_timeout(PATIENCE).ok()
    }

    /// Answers a request of the server: to ask again, or to report changed files.
    fn answer(&self, request: Request) {
        let known = ["workspace/diagnostic/refresh", "client/registerCapability"];
        assert!(known.contains(&&*request.method), "{request:?}");
        let response = Response::new_ok(request.id, ());
        self.connection().sender.send(response.into()).unwrap();
    }

    fn take(&mut self, notification: Notification) {
        let params = notification.params;
        match &*notification.method {
            "textDocument/publishDiagnostics" => {
                let address = params["uri"].as_str().expect("an address").to_owned();
                self.published
                    .insert(address, params["diagnostics"].clone());
            }
            "window/showMessage" | "window/logMessage" => {
                let message = params["message"].as_str().expect("a message");
                self.messages.push(message.to_owned());
            }
            other => panic!("unexpected {other}"),
        }
    }

    /// Waits until a condition holds.
    pub fn wait(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "{what}: {:#?}", self.published);
            match self.receive() {
                Some(Message::Notification(notification)) => self.take(notification),
                Some(Message::Request(request)) => self.answer(request),
                Some(other) => panic!("unexpected {other:?}"),
                None => panic!("{what}: {:#?} {:?}", self.published, self.messages),
            }
        }
    }

    pub fn open(&self, path: &Path, text: &str) {
        let document = json!({"uri": uri(path), "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub fn change(&self, path: &Path, version: usize, changes: Json) {
        let document = json!({"uri": uri(path), "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    pub fn close(&self, path: &Path) {
        let params = json!({"textDocument": {"uri": uri(path)}});
        self.notify("textDocument/didClose", params);
    }

    /// Diagnostics that are not empty, as `FILE:LINE:CHARACTER SEVERITY CODE` below a folder.
    pub fn listed(&self, root: &Path) -> Vec<String> {
        let prefix = format!("{}/", uri(root));
        let mut lines = Vec::new();
        for (address, list) in &self.published {
            let file = address.strip_prefix(&prefix).unwrap_or(address);
            for found in list.as_array().unwrap() {
                let start = &found["range"]["start"];
                lines.push(format!(
                    "{file}:{}:{} {} {}",
                    start["line"].as_u64().unwrap() + 1,
                    start["character"].as_u64().unwrap() + 1,
                    found["severity"],
                    found["code"].as_str().unwrap(),
                ));
            }
        }
        lines.sort();
        lines
    }

    /// Ends the session, and returns how the server ended.
    pub fn end(mut self) -> Ended {
        assert_eq!(self.request("shutdown", Json::Null), Ok(Json::Null));
        self.notify("exit", Json::Null);
        let server = self.server.take().expect("it ends once");
        server.join().expect("the server does not panic")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Publishing ends with the server.
        let Some(connection) = self.connection.take() else {
            return;
        };
        drop(connection.sender);
        if let Some(server) = self.server.take() {
            drop(server.join());
        }
        let unread: Vec<Message> = connection
            .receiver
            .try_iter()
            .filter(|message| !matches!(message, Message::Notification(it) if it.method == "textDocument/publishDiagnostics"))
            .collect();
        if !thread::panicking() {
            assert!(unread.is_empty(), "unread: {unread:?}");
        }
    }
}
