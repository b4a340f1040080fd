//! `layercake server`: the findings of a site repository while it is edited, over the Language Server
//! Protocol (LSP). All types of LSP are in this module.
//!
//! The main thread reads messages, keeps the texts of open documents and answers at once. Another
//! thread reads and judges what a change reaches, once no other change follows; a change while it does
//! so cancels it. It starts no program, reads no network, and writes no file.

mod findings;
mod folder;
mod hover;
mod text;
mod uri;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types::{
    ChangeNotifications, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    HoverParams, HoverProvider, InitializeParams, InitializeResult, ServerCapabilities, ServerInfo,
    TextDocumentContentChangeEvent, TextDocumentSync, TextDocumentSyncKind,
    TextDocumentSyncOptions, Uri, WorkspaceFolders, WorkspaceFoldersServerCapabilities,
    WorkspaceOptions,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use serde::de::DeserializeOwned;

use self::text::{Encoding, Lines};
use self::uri::path_of;
use self::worker::{Event, OpenDocument, Question, Worker};

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client shut the server down, and asked it to exit.
    Orderly,
    /// The client asked it to exit without a shutdown, or went away.
    Abrupt,
}

/// Serves a client on standard input and output until it exits or closes them.
///
/// # Errors
/// If the client breaks the protocol before it is initialized.
pub fn serve_standard_streams() -> Result<Ended, ProtocolError> {
    let (connection, threads) = Connection::stdio();
    let ended = serve(connection);
    // The threads end with the streams; a broken one has no reader for an error.
    drop(threads.join());
    ended
}

/// Serves a client.
///
/// # Errors
/// As [`serve_standard_streams`].
pub fn serve(connection: Connection) -> Result<Ended, ProtocolError> {
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        Err(error) if error.channel_is_disconnected() => return Ok(Ended::Abrupt),
        Err(error) => return Err(error),
    };
    let params: InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let message = format!("invalid parameters of `initialize`: {error}");
            let refusal = Response::new_err(id, ErrorCode::InvalidParams as i32, message);
            drop(connection.sender.send(refusal.into()));
            return Ok(Ended::Abrupt);
        }
    };
    let general = params.capabilities.general.as_ref();
    let preferred = general.and_then(|general| general.position_encodings.as_deref());
    let encoding = Encoding::chosen(preferred.unwrap_or_default());
    let result = serde_json::to_value(capabilities(encoding)).expect("capabilities are JSON");
    if connection.initialize_finish(id, result).is_err() {
        return Ok(Ended::Abrupt);
    }
    let worker = Worker::start(connection.sender.clone(), encoding);
    let mut session = Session {
        client: connection,
        encoding,
        documents: BTreeMap::new(),
        worker,
        is_shut_down: false,
    };
    session.worker.send(Event::Folders {
        added: folders(&params),
        removed: Vec::new(),
    });
    let ended = session.run();
    session.worker.stop();
    Ok(ended)
}

fn capabilities(encoding: Encoding) -> InitializeResult {
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProvider::Bool(true)),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    InitializeResult {
        capabilities,
        server_info: Some(ServerInfo {
            name: "layercake".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

/// Folders that the client opened; old clients name only one.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let named = params
        .workspace_folders_initialize_params
        .workspace_folders
        .as_ref();
    #[expect(deprecated, reason = "old clients have only this")]
    let root = params.root_uri.as_ref();
    match named {
        Some(WorkspaceFolders::WorkspaceFolderList(folders)) => {
            folders.iter().filter_map(|it| path_of(&it.uri)).collect()
        }
        Some(WorkspaceFolders::Null) | None => root.and_then(path_of).into_iter().collect(),
    }
}

/// A session with a client.
struct Session {
    client: Connection,
    encoding: Encoding,
    documents: BTreeMap<PathBuf, OpenDocument>,
    worker: Worker,
    is_shut_down: bool,
}

impl Session {
    fn run(&mut self) -> Ended {
        let receiver = self.client.receiver.clone();
        for message in receiver {
            match message {
                Message::Request(request) => self.answer(request),
                Message::Notification(notification) if notification.method == "exit" => break,
                Message::Notification(notification) => self.take(notification),
                // The server asks nothing that it waits for.
                Message::Response(_) => {}
            }
        }
        if self.is_shut_down {
            Ended::Orderly
        } else {
            Ended::Abrupt
        }
    }

    fn answer(&mut self, request: Request) {
        let response = match &*request.method {
            "textDocument/hover" if !self.is_shut_down => match question(&request) {
                Ok(Some(question)) => return self.worker.send(Event::Question(question)),
                Ok(None) => Response::new_ok(request.id, ()),
                Err(error) => {
                    let message = format!("invalid parameters: {error}");
                    Response::new_err(request.id, ErrorCode::InvalidParams as i32, message)
                }
            },
            _ if self.is_shut_down => {
                let message = "the server is shut down".to_owned();
                Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message)
            }
            "shutdown" => {
                self.is_shut_down = true;
                Response::new_ok(request.id, ())
            }
            other => {
                let message = format!("unknown request `{other}`");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        };
        // A client that went away is noticed when the next message is read.
        drop(self.client.sender.send(response.into()));
    }

    /// Takes a notification; unknown ones, and those with invalid parameters, have no answer.
    fn take(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match &*method {
            "textDocument/didOpen" => self.with(params, Self::open),
            "textDocument/didChange" => self.with(params, Self::change),
            "textDocument/didClose" => self.with(params, Self::close),
            "workspace/didChangeWatchedFiles" => self.with(params, Self::changed_on_disk),
            "workspace/didChangeWorkspaceFolders" => self.with(params, Self::change_folders),
            _ => {}
        }
    }

    fn with<P: DeserializeOwned>(&mut self, params: serde_json::Value, take: fn(&mut Self, P)) {
        if let Ok(params) = serde_json::from_value(params) {
            take(self, params);
        }
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let opened = OpenDocument {
            version: document.version,
            text: document.text.into(),
        };
        self.set(&document.uri, Some(opened));
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.text_document_identifier.uri;
        let Some(document) = path_of(&uri).and_then(|path| self.documents.get(&path)) else {
            return;
        };
        let changes = params.content_changes.into_iter();
        let text = changes.fold(document.text.to_string(), |text, change| {
            edited(text, change, self.encoding)
        });
        let changed = OpenDocument {
            version: params.text_document.version,
            text: text.into(),
        };
        self.set(&uri, Some(changed));
    }

    fn close(&mut self, params: DidCloseTextDocumentParams) {
        self.set(&params.text_document.uri, None);
    }

    /// Sets the text of a document, or closes it.
    fn set(&mut self, uri: &Uri, document: Option<OpenDocument>) {
        let Some(path) = path_of(uri) else { return };
        match &document {
            Some(document) => self.documents.insert(path.clone(), document.clone()),
            None => self.documents.remove(&path),
        };
        self.worker.send(Event::Document { path, document });
    }

    fn changed_on_disk(&mut self, params: DidChangeWatchedFilesParams) {
        let files = params.changes.iter().filter_map(|it| path_of(&it.uri));
        self.worker.send(Event::Files(files.collect()));
    }

    fn change_folders(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let [added, removed] = [params.event.added, params.event.removed]
            .map(|folders| folders.iter().filter_map(|it| path_of(&it.uri)).collect());
        self.worker.send(Event::Folders { added, removed });
    }
}

/// A request at a place: its question, or nothing if the place is not in a file.
fn question(request: &Request) -> serde_json::Result<Option<Question>> {
    let params: HoverParams = serde_json::from_value(request.params.clone())?;
    let at = params.text_document_position_params;
    Ok(path_of(&at.text_document.uri).map(|path| Question {
        id: request.id.clone(),
        path,
        line: at.position.line as usize,
    }))
}

/// A text after a change of the client.
fn edited(text: String, change: TextDocumentContentChangeEvent, encoding: Encoding) -> String {
    match change {
        TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => whole.text,
        TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
            let bytes = Lines::new(&text, encoding).bytes(part.range);
            let mut text = text;
            text.replace_range(bytes, &part.text);
            text
        }
    }
}
