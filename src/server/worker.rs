//! The thread that reads, answers and judges. A change is read at once, so that questions know it, and
//! judged when no other follows for a moment. Questions go before judging, which is stopped for them
//! and goes on afterwards with the sites that are left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use gen_lsp_types::{
    Diagnostic, LogMessageParams, MessageType, ProgressParams, ProgressToken,
    PublishDiagnosticsParams, ShowMessageParams, Uri, WorkDoneProgressCreateParams,
    WorkDoneProgressCreateRequest,
};
use lsp_server::{Request, RequestId};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::client::{Client, Settings};
use super::folder::{Folder, Published, is_of_git};
use super::requests::{self, Question, Refusal};
use super::uri::{path_of, uri_of};
use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind};
use crate::guard::{Place, guarded};

/// Time without a further change after which changes are judged.
const QUIET: Duration = Duration::from_millis(20);

/// Event from the client.
pub(super) enum Event {
    /// A document was opened or edited, or closed.
    Document {
        path: PathBuf,
        document: Option<OpenDocument>,
    },
    /// Files on disk changed, came or went.
    Files(Vec<PathBuf>),
    /// The client opened and closed folders.
    Folders {
        added: Vec<PathBuf>,
        removed: Vec<PathBuf>,
    },
    /// The user changed settings.
    Settings(Settings),
    /// A question, which is answered from the state after all changes before it.
    Question(Request),
    /// The client no longer needs the answer to a question.
    Cancelled(RequestId),
}

/// Text of a document in the client.
#[derive(Clone, Debug)]
pub(super) struct OpenDocument {
    pub(super) version: i32,
    pub(super) text: Arc<str>,
}

/// Open documents by their paths.
pub(super) type OpenDocuments = BTreeMap<PathBuf, OpenDocument>;

/// Handle of the thread.
pub(super) struct Worker {
    events: Option<Sender<Event>>,
    current: Arc<Mutex<CurrentWork>>,
    thread: Option<JoinHandle<()>>,
}

/// Current work of the thread, and the handle to stop it.
#[derive(Default)]
struct CurrentWork {
    cancel: Cancel,
    kind: WorkKind,
}

#[derive(Default, PartialEq, Eq)]
enum WorkKind {
    #[default]
    Reading,
    Answering(RequestId),
    Judging,
}

impl CurrentWork {
    /// Stops work that an event makes useless, or that can wait.
    fn stop_for(&self, event: &Event) {
        let is_stopped = match event {
            Event::Document { .. }
            | Event::Files(_)
            | Event::Folders { .. }
            | Event::Settings(_) => true,
            Event::Question(_) => self.kind == WorkKind::Judging,
            Event::Cancelled(id) => self.kind == WorkKind::Answering(id.clone()),
        };
        if is_stopped {
            self.cancel.cancel();
        }
    }
}

impl Worker {
    pub(super) fn start(client: Client) -> Self {
        let (sender, events) = unbounded();
        let current = Arc::new(Mutex::new(CurrentWork::default()));
        let mut judge = Judge {
            client,
            folders: Vec::new(),
            documents: OpenDocuments::new(),
            questions: Vec::new(),
            current: current.clone(),
            progress: StartProgress::default(),
        };
        let thread = thread::Builder::new()
            .name("judge".to_owned())
            .spawn(move || judge.run(&events))
            .expect("a thread can be started");
        Self {
            events: Some(sender),
            current,
            thread: Some(thread),
        }
    }

    /// Hands over an event.
    pub(super) fn send(&self, event: Event) {
        // Held until the event arrived, so that no work begins without it.
        let current = self.current.lock();
        current.stop_for(&event);
        if let Some(events) = &self.events {
            // The thread ends only after the last event.
            drop(events.send(event));
        }
    }

    /// Stops the current work and waits for the end of the thread.
    pub(super) fn stop(&mut self) {
        self.events = None;
        self.current.lock().cancel.cancel();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// State of the thread.
struct Judge {
    client: Client,
    folders: Vec<Folder>,
    documents: OpenDocuments,
    /// Questions without an answer.
    questions: Vec<Request>,
    current: Arc<Mutex<CurrentWork>>,
    progress: StartProgress,
}

/// Progress that the client shows while a folder is read and judged for the first time.
#[derive(Default)]
struct StartProgress {
    is_shown: bool,
}

impl StartProgress {
    const TOKEN: &str = "layercake/start";

    fn begin(&mut self, client: &Client) {
        if self.is_shown || !client.can("/window/workDoneProgress") {
            return;
        }
        self.is_shown = true;
        let token = ProgressToken::from(Self::TOKEN.to_owned());
        client.request::<WorkDoneProgressCreateRequest>(WorkDoneProgressCreateParams { token });
        Self::notify(
            client,
            json!({"kind": "begin", "title": "layercake reads the sites"}),
        );
    }

    fn end(&mut self, client: &Client) {
        if std::mem::take(&mut self.is_shown) {
            Self::notify(client, json!({"kind": "end"}));
        }
    }

    fn notify(client: &Client, value: Value) {
        let token = ProgressToken::from(Self::TOKEN.to_owned());
        client.notify("$/progress", ProgressParams { token, value });
    }
}

impl Judge {
    fn run(&mut self, events: &Receiver<Event>) {
        loop {
            if self.is_idle() {
                let Ok(event) = events.recv() else { return };
                self.take(event);
            }
            events.try_iter().for_each(|event| self.take(event));
            if !self.client.watches_files() && !self.questions.is_empty() {
                self.folders.iter_mut().for_each(Folder::look);
            }
            self.read(events);
            self.answer(events);
            if self.is_outdated() {
                // A client that asks for findings has waited itself.
                let quiet = if self.questions.is_empty() {
                    QUIET
                } else {
                    Duration::ZERO
                };
                match events.recv_timeout(quiet) {
                    Ok(event) => self.take(event),
                    Err(RecvTimeoutError::Timeout) => self.judge(events),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.questions.is_empty() && !self.is_outdated()
    }

    fn is_outdated(&self) -> bool {
        self.folders.iter().any(Folder::is_outdated)
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Document { path, document } => {
                for folder in &mut self.folders {
                    folder.note(&path);
                }
                let was_open = self.documents.contains_key(&path);
                let is_open = document.is_some();
                match document {
                    Some(document) => self.documents.insert(path.clone(), document),
                    None => self.documents.remove(&path),
                };
                if was_open != is_open {
                    self.hand_over(&path, is_open);
                }
            }
            Event::Files(files) => {
                if files.iter().any(|file| is_of_git(file)) {
                    self.client.refresh_reach();
                }
                for folder in &mut self.folders {
                    for file in &files {
                        folder.note_on_disk(file);
                    }
                }
            }
            Event::Folders { added, removed } => self.change_folders(added, &removed),
            Event::Settings(settings) => {
                self.client.settings = settings;
                self.client.refresh_reach();
            }
            Event::Question(request) => self.questions.push(request),
            Event::Cancelled(id) => {
                let is_meant = |question: &Request| question.id == id;
                if let Some(index) = self.questions.iter().position(is_meant) {
                    self.questions.remove(index);
                    self.client.respond(id, Err(Refusal::cancelled()));
                }
            }
        }
    }

    /// Clears the pushed findings of a document that was opened, if the client asks for them, or
    /// pushes those of one that was closed: clients drop them.
    fn hand_over(&self, path: &Path, is_open: bool) {
        if is_open && !self.client.pulls_diagnostics() {
            return;
        }
        let mut folders = self.folders.iter();
        let Some(published) = folders.find_map(|folder| folder.published(path)) else {
            return;
        };
        let diagnostics = if is_open {
            Vec::new()
        } else {
            published.clone()
        };
        self.push(uri_of(path), diagnostics);
    }

    fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let (gone, left): (Vec<Folder>, Vec<Folder>) = std::mem::take(&mut self.folders)
            .into_iter()
            .partition(|folder| removed.contains(&folder.path));
        self.folders = left;
        for mut folder in gone {
            let none = folder.publish(Published::new());
            self.publish(none);
        }
        for path in added {
            if !self.folders.iter().any(|folder| folder.path == path) {
                self.folders.push(Folder::new(path));
            }
        }
    }

    /// Begins work, unless an event arrived that may stop it.
    fn begin(&self, kind: WorkKind, events: &Receiver<Event>) -> Option<Cancel> {
        let mut current = self.current.lock();
        *current = CurrentWork {
            cancel: Cancel::default(),
            kind,
        };
        events.is_empty().then(|| current.cancel.clone())
    }

    /// Reads what changed.
    fn read(&mut self, events: &Receiver<Event>) {
        let Some(cancel) = self.begin(WorkKind::Reading, events) else {
            return;
        };
        let mut folders = std::mem::take(&mut self.folders);
        if folders
            .iter()
            .any(|folder| folder.is_unread() && folder.opened.is_none())
        {
            self.progress.begin(&self.client);
        }
        for folder in folders.iter_mut().filter(|folder| folder.is_unread()) {
            match guarded(Place::Run, || {
                folder.read(&self.documents, &self.client, &cancel)
            }) {
                Some(Ok(())) => {}
                Some(Err(error)) => self.report(folder, &error),
                None => folder.fail(),
            }
        }
        self.folders = folders;
    }

    /// Answers all questions that do not wait for findings.
    fn answer(&mut self, events: &Receiver<Event>) {
        for question in std::mem::take(&mut self.questions) {
            let is_early = requests::waits_for_findings(&question, &self.folders);
            let cancel = self.begin(WorkKind::Answering(question.id.clone()), events);
            let Some(cancel) = cancel.filter(|_| !is_early) else {
                self.questions.push(question);
                continue;
            };
            let found = guarded(Place::Run, || {
                let question = Question {
                    request: &question,
                    folders: &mut self.folders,
                    documents: &self.documents,
                    client: &self.client,
                    cancel: &cancel,
                };
                question.answer()
            });
            match found {
                // A change stopped it, or the client.
                Some(Err(refusal)) if refusal.is_cancelled() => self.questions.push(question),
                Some(answer) => self.client.respond(question.id, answer),
                None => self.client.respond(question.id, Err(Refusal::failed())),
            }
        }
    }

    /// Judges the folders in which something changed, and publishes what differs.
    fn judge(&mut self, events: &Receiver<Event>) {
        let Some(cancel) = self.begin(WorkKind::Judging, events) else {
            return;
        };
        let mut folders = std::mem::take(&mut self.folders);
        for folder in folders.iter_mut().filter(|folder| folder.is_outdated()) {
            match guarded(Place::Run, || folder.judged(&self.client, &cancel)) {
                Some(Ok(published)) => self.publish(published),
                Some(Err(error)) => self.report(folder, &error),
                None => folder.fail(),
            }
        }
        self.folders = folders;
        if !self.is_outdated() {
            self.progress.end(&self.client);
            // An edit of one document changes what another reaches.
            if self.documents.len() > 1 {
                self.client.refresh_reach();
            }
        }
    }

    fn publish(&self, published: Published) {
        let mut is_stale = false;
        for (address, diagnostics) in published {
            let address = Uri(address);
            // Such a client asks for those of open documents.
            if self.client.pulls_diagnostics() && self.opened(&address).is_some() {
                is_stale = true;
            } else {
                self.push(address, diagnostics);
            }
        }
        if is_stale {
            self.client.refresh_findings();
        }
    }

    fn opened(&self, address: &Uri) -> Option<&OpenDocument> {
        self.documents.get(&path_of(address)?)
    }

    fn push(&self, uri: Uri, diagnostics: Vec<Diagnostic>) {
        self.client.notify(
            "textDocument/publishDiagnostics",
            PublishDiagnosticsParams {
                version: self.opened(&uri).map(|document| document.version),
                uri,
                diagnostics,
            },
        );
    }

    /// Shows why a folder has no findings; that it has no site repository is only logged.
    fn report(&self, folder: &mut Folder, error: &Error) {
        if error.kind() == ErrorKind::Cancelled || !folder.is_new_problem(error) {
            return;
        }
        let message = error.to_string();
        let kind = MessageType::Error;
        if error.kind() == ErrorKind::Configuration {
            self.client
                .notify("window/showMessage", ShowMessageParams { kind, message });
        } else {
            self.client
                .notify("window/logMessage", LogMessageParams { kind, message });
        }
    }
}
