//! The thread that reads and judges. It waits until no change follows for a moment; one that arrives
//! while it judges cancels the run.

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use gen_lsp_types::{LogMessageParams, MessageType, PublishDiagnosticsParams, ShowMessageParams};
use lsp_server::{ErrorCode, Message, Notification, RequestId, Response};
use serde::Serialize;

use super::folder::{Folder, OpenTexts, Published};
use super::text::Encoding;
use super::uri::uri_of;
use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind};
use crate::guard::{Place, guarded};

/// Time without a further change after which changes are judged.
const QUIET: Duration = Duration::from_millis(80);

/// What changed.
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
    /// The client asks, and nothing changed.
    Question(Question),
}

/// A question, which is answered from the state after all changes before it.
pub(super) struct Question {
    pub(super) id: RequestId,
    pub(super) path: PathBuf,
    /// 0-based.
    pub(super) line: usize,
}

/// Text of a document in the client.
#[derive(Clone, Debug)]
pub(super) struct OpenDocument {
    pub(super) version: i32,
    pub(super) text: Arc<str>,
}

/// Handle of the thread.
pub(super) struct Worker {
    events: Option<Sender<Event>>,
    /// Stops the current run.
    current: Arc<Mutex<Cancel>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(client: Sender<Message>, encoding: Encoding) -> Self {
        let (sender, events) = unbounded();
        let current = Arc::new(Mutex::new(Cancel::default()));
        let mut judge = Judge {
            client,
            encoding,
            folders: Vec::new(),
            documents: BTreeMap::new(),
            questions: Vec::new(),
            current: current.clone(),
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

    /// Hands over an event. A change cancels the run that does not know it.
    pub(super) fn send(&self, event: Event) {
        let is_change = !matches!(event, Event::Question(_));
        if let Some(events) = &self.events {
            // The thread ends only after the last event.
            drop(events.send(event));
        }
        if is_change {
            locked(&self.current).cancel();
        }
    }

    /// Cancels the current run and waits for the end of the thread.
    pub(super) fn stop(&mut self) {
        self.events = None;
        locked(&self.current).cancel();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn locked(current: &Mutex<Cancel>) -> MutexGuard<'_, Cancel> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of the thread.
struct Judge {
    client: Sender<Message>,
    encoding: Encoding,
    folders: Vec<Folder>,
    documents: BTreeMap<PathBuf, OpenDocument>,
    /// Questions without an answer.
    questions: Vec<Question>,
    current: Arc<Mutex<Cancel>>,
}

impl Judge {
    fn run(&mut self, events: &Receiver<Event>) {
        while let Ok(event) = events.recv() {
            self.take(event);
            // A question alone has nothing to wait for.
            while self.is_outdated()
                && let Ok(event) = events.recv_timeout(QUIET)
            {
                self.take(event);
            }
            let cancel = Cancel::default();
            *locked(&self.current) = cancel.clone();
            // An event that arrived before did not cancel this run.
            if events.is_empty() {
                self.judge(&cancel);
                self.answer(&cancel);
            }
        }
    }

    fn is_outdated(&self) -> bool {
        self.folders.iter().any(Folder::is_outdated)
    }

    /// Answers all questions, unless a change arrived, after which they are answered.
    fn answer(&mut self, cancel: &Cancel) {
        let mut questions = std::mem::take(&mut self.questions).into_iter();
        while let Some(question) = questions.next() {
            let Question { id, path, line } = &question;
            let mut folders = self.folders.iter_mut();
            let found = guarded(Place::Run, || {
                folders.find_map(|folder| folder.hover(path, *line, cancel).transpose())
            });
            let response = match found {
                Some(Some(Err(_))) if cancel.is_cancelled() => {
                    self.questions = iter::once(question).chain(questions).collect();
                    return;
                }
                Some(Some(Err(error))) => {
                    let code = ErrorCode::RequestFailed as i32;
                    Response::new_err(id.clone(), code, error.to_string())
                }
                Some(Some(Ok(hover))) => Response::new_ok(id.clone(), hover),
                Some(None) => Response::new_ok(id.clone(), ()),
                None => {
                    let message = "layercake failed on this question".to_owned();
                    Response::new_err(id.clone(), ErrorCode::InternalError as i32, message)
                }
            };
            // A client that went away ends the session.
            drop(self.client.send(response.into()));
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Document { path, document } => {
                for folder in &mut self.folders {
                    folder.note(&path);
                }
                match document {
                    Some(document) => self.documents.insert(path, document),
                    None => self.documents.remove(&path),
                };
            }
            Event::Files(files) => {
                for folder in &mut self.folders {
                    for file in &files {
                        folder.note(file);
                    }
                }
            }
            Event::Folders { added, removed } => self.change_folders(added, &removed),
            Event::Question(question) => self.questions.push(question),
        }
    }

    fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let (gone, left) = std::mem::take(&mut self.folders)
            .into_iter()
            .partition(|folder| removed.contains(&folder.path));
        self.folders = left;
        let gone: Vec<Folder> = gone;
        for mut folder in gone {
            let none = folder.publish(Published::new());
            self.publish(none);
        }
        let known = |path: &PathBuf| self.folders.iter().any(|folder| folder.path == *path);
        let added: Vec<PathBuf> = added.into_iter().filter(|path| !known(path)).collect();
        self.folders.extend(added.into_iter().map(Folder::new));
    }

    /// Judges the folders in which something changed, and publishes what differs.
    fn judge(&mut self, cancel: &Cancel) {
        let texts: OpenTexts = self
            .documents
            .iter()
            .map(|(path, document)| (path.clone(), document.text.clone()))
            .collect();
        let mut folders = std::mem::take(&mut self.folders);
        for folder in folders.iter_mut().filter(|folder| folder.is_outdated()) {
            let judged = guarded(Place::Run, || folder.judged(&texts, self.encoding, cancel));
            match judged {
                Some(Ok(published)) => self.publish(published),
                Some(Err(error)) if error.kind() == ErrorKind::Cancelled => {}
                Some(Err(error)) => {
                    if folder.is_new_problem(&error) {
                        self.report(&error);
                    }
                }
                None => folder.close(),
            }
        }
        self.folders = folders;
    }

    fn publish(&self, published: Published) {
        for (path, diagnostics) in published {
            let version = self.documents.get(&path).map(|document| document.version);
            self.send(
                "textDocument/publishDiagnostics",
                PublishDiagnosticsParams {
                    uri: uri_of(&path),
                    version,
                    diagnostics,
                },
            );
        }
    }

    /// Shows why a folder has no findings; that it has no site repository is only logged.
    fn report(&self, error: &Error) {
        let message = error.to_string();
        let kind = MessageType::Error;
        if error.kind() == ErrorKind::Configuration {
            self.send("window/showMessage", ShowMessageParams { kind, message });
        } else {
            self.send("window/logMessage", LogMessageParams { kind, message });
        }
    }

    fn send(&self, method: &str, params: impl Serialize) {
        let notification = Notification::new(method.to_owned(), params);
        // A client that went away ends the session.
        drop(self.client.send(notification.into()));
    }
}
