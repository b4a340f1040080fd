//! `layercake server`: the findings of a site repository while it is edited, over the Language Server
//! Protocol (LSP). All types of LSP are in this module.
//!
//! The main thread reads messages and keeps the texts of open documents. Another thread reads changes,
//! answers questions, and judges what a change reaches once no other follows; a change while it does so
//! cancels it. It starts no program, reads no network, and writes no file.

mod actions;
mod asked;
mod base;
mod client;
mod completion;
mod cursor;
mod findings;
mod folder;
mod hierarchy;
mod hints;
mod hover;
mod navigate;
mod outline;
mod reach;
mod rename;
mod rendered;
mod requests;
mod site_definition;
mod text;
mod uri;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use gen_lsp_types::{
    CancelParams, ChangeNotifications, CodeActionKind, CodeActionOptions, CodeLensOptions,
    CompletionOptions, ConfigurationItem, ConfigurationParams, ConfigurationRequest,
    DiagnosticOptions, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentLinkOptions, ExecuteCommandOptions, FileSystemWatcher, Id, InitializeParams,
    InitializeResult, MessageType, Pattern, Registration, RegistrationParams, RegistrationRequest,
    RenameOptions, ServerCapabilities, ServerInfo, ShowMessageParams,
    TextDocumentContentChangeEvent, TextDocumentContentOptions, TextDocumentSync,
    TextDocumentSyncKind, TextDocumentSyncOptions, Uri, WorkspaceFolders,
    WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use lsp_server::{
    Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::client::{Client, Settings};
use self::requests::Refusal;
use self::text::{Encoding, Lines};
use self::uri::path_of;
use self::worker::{Event, OpenDocument, Worker};
use crate::commands::CheckClock;
use crate::source::is_running;

/// Time without messages after which a session looks whether its client still runs.
const CLIENT_CHECK: Duration = Duration::from_millis(500);

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client shut the server down, and asked it to exit.
    Orderly,
    /// The client asked it to exit without a shutdown, or closed its streams.
    Abrupt,
    /// The process of the client ended; its streams may be open.
    Orphaned,
}

/// Serves a client on standard input and output until it exits or closes them.
///
/// # Errors
/// If the client breaks the protocol before it is initialized.
pub fn serve_standard_streams(clock: CheckClock) -> Result<Ended, ProtocolError> {
    let (connection, threads) = Connection::stdio();
    let ended = serve(connection, clock)?;
    // The threads end with the streams, which another process may hold open.
    if ended != Ended::Orphaned {
        // A broken stream has no reader for an error.
        drop(threads.join());
    }
    Ok(ended)
}

/// Serves a client.
///
/// # Errors
/// As [`serve_standard_streams`].
pub fn serve(connection: Connection, clock: CheckClock) -> Result<Ended, ProtocolError> {
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        Err(error) if error.channel_is_disconnected() => return Ok(Ended::Abrupt),
        Err(error) => return Err(error),
    };
    let client = Client::of(&params, connection.sender.clone(), clock);
    let params: InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let message = format!("invalid parameters of `initialize`: {error}");
            let code = ErrorCode::InvalidParams;
            client.respond(id, Err(Refusal { code, message }));
            return Ok(Ended::Abrupt);
        }
    };
    // An id that is unknown here says nothing about the client, as outside of a container.
    let process = params.process_id.filter(|process| is_running(*process));
    let result = serde_json::to_value(capabilities(&client)).expect("capabilities are JSON");
    if connection.initialize_finish(id, result).is_err() {
        return Ok(Ended::Abrupt);
    }
    let mut session = Session {
        worker: Worker::start(client.clone()),
        process,
        connection,
        client,
        documents: BTreeMap::new(),
        settings_request: None,
        is_shut_down: false,
    };
    session.watch_files();
    session.ask_for_settings();
    session.worker.send(Event::Folders {
        added: folders(&params),
        removed: Vec::new(),
    });
    let ended = session.run();
    session.worker.stop();
    Ok(ended)
}

fn capabilities(client: &Client) -> InitializeResult {
    let capabilities = ServerCapabilities {
        position_encoding: Some(client.encoding.kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        declaration_provider: Some(true.into()),
        implementation_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_link_provider: Some(DocumentLinkOptions::default()),
        document_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        selection_range_provider: Some(true.into()),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QuickFix,
                    CodeActionKind::RefactorRewrite,
                ]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        rename_provider: Some(
            RenameOptions {
                prepare_provider: Some(true),
                ..RenameOptions::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([":", " ", ".", "[", "-"].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        inlay_hint_provider: Some(true.into()),
        diagnostic_provider: client.pulls_diagnostics().then(|| {
            DiagnosticOptions {
                inter_file_dependencies: true,
                ..DiagnosticOptions::default()
            }
            .into()
        }),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(true),
            ..CodeLensOptions::default()
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [reach::OUTPUTS, rendered::DOCUMENTS]
                .map(str::to_owned)
                .into(),
            ..ExecuteCommandOptions::default()
        }),
        call_hierarchy_provider: Some(true.into()),
        type_hierarchy_provider: Some(true.into()),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            text_document_content: Some(
                TextDocumentContentOptions {
                    schemes: vec![rendered::SCHEME.to_owned()],
                }
                .into(),
            ),
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
    connection: Connection,
    /// Id of the process whose end ends the session.
    process: Option<i32>,
    client: Client,
    /// Id of the request for settings that the client has not answered yet.
    settings_request: Option<RequestId>,
    documents: BTreeMap<PathBuf, OpenDocument>,
    worker: Worker,
    is_shut_down: bool,
}

impl Session {
    fn run(&mut self) -> Ended {
        loop {
            match self.connection.receiver.recv_timeout(CLIENT_CHECK) {
                Ok(Message::Request(request)) => self.answer(request),
                Ok(Message::Notification(notification)) if notification.method == "exit" => break,
                Ok(Message::Notification(notification)) => self.take(notification),
                Ok(Message::Response(response)) => self.take_response(response),
                Err(RecvTimeoutError::Timeout) if self.is_client_gone() => return Ended::Orphaned,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.is_shut_down {
            Ended::Orderly
        } else {
            Ended::Abrupt
        }
    }

    fn is_client_gone(&self) -> bool {
        self.process.is_some_and(|process| !is_running(process))
    }

    /// Asks the client to report changed files: the sets of cloud-init can contain any file.
    fn watch_files(&self) {
        if !self.client.watches_files() {
            return;
        }
        let options = DidChangeWatchedFilesRegistrationOptions {
            watchers: vec![FileSystemWatcher {
                glob_pattern: Pattern::from("**/*").into(),
                kind: None,
            }],
        };
        let registration = Registration {
            id: "files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.client
            .request::<RegistrationRequest>(RegistrationParams {
                registrations: vec![registration],
            });
    }

    /// Asks the client for the settings, if it answers such a question.
    fn ask_for_settings(&mut self) {
        if self.client.can("/workspace/configuration") {
            let item = ConfigurationItem {
                section: Some("layercake".to_owned()),
                ..ConfigurationItem::default()
            };
            let params = ConfigurationParams { items: vec![item] };
            self.settings_request = Some(self.client.request::<ConfigurationRequest>(params));
        }
    }

    /// Takes the settings. Nothing depends on other responses.
    fn take_response(&mut self, response: Response) {
        if self.settings_request.as_ref() == Some(&response.id) {
            self.settings_request = None;
            let settings = response.response_result.ok();
            let settings = settings.and_then(|mut list| list.get_mut(0).map(Value::take));
            self.set_settings(settings.unwrap_or_default());
        }
    }

    fn answer(&mut self, request: Request) {
        let answer = match &*request.method {
            _ if self.is_shut_down => Err(Refusal {
                code: ErrorCode::InvalidRequest,
                message: "the server is shut down".to_owned(),
            }),
            "shutdown" => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            method if requests::is_known(method) => {
                return self.worker.send(Event::Question(request));
            }
            other => Err(Refusal::unknown(other)),
        };
        self.client.respond(request.id, answer);
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
            "workspace/didChangeConfiguration" => self.with(params, Self::change_settings),
            "$/cancelRequest" => self.with(params, Self::cancel),
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
            edited(text, change, self.client.encoding)
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

    fn change_settings(&mut self, params: DidChangeConfigurationParams) {
        if params.settings.is_null() {
            self.ask_for_settings();
        } else {
            self.set_settings(params.settings);
        }
    }

    /// Null has the defaults; settings that cannot be read leave those before.
    fn set_settings(&mut self, settings: Value) {
        match Settings::of(settings) {
            Ok(settings) => self.worker.send(Event::Settings(settings)),
            Err(error) => {
                let kind = MessageType::Warning;
                let message = format!("invalid settings of layercake: {error}");
                self.client
                    .notify("window/showMessage", ShowMessageParams { kind, message });
            }
        }
    }

    fn cancel(&mut self, params: CancelParams) {
        let id = match params.id {
            Id::Int(id) => RequestId::from(id),
            Id::String(id) => RequestId::from(id),
        };
        self.worker.send(Event::Cancelled(id));
    }

    fn change_folders(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let [added, removed] = [params.event.added, params.event.removed]
            .map(|folders| folders.iter().filter_map(|it| path_of(&it.uri)).collect());
        self.worker.send(Event::Folders { added, removed });
    }
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
