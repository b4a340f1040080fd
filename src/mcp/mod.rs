//! `layercake mcp`: answers for coding agents, over the Model Context Protocol (MCP) on two streams.
//!
//! It is written by hand: the official SDK would bring tokio and 28 further crates for six tools. A tool
//! calls the function of its verb, and its answer is the JSON that the verb prints, in pages.
//!
//! The main thread reads messages and answers at once what needs no repository; another thread calls the
//! tools, one after the other. Each call opens the repository anew, so it sees all changes. Nothing is
//! written, no program is started, and no network is read.

mod answer;
mod calls;
mod protocol;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use self::protocol::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, Refusal, Request,
    RequestId, Version,
};
use self::tools::Tool;
use crate::cancel::Cancel;
use crate::commands::Selection;
use crate::guard::{Place, guarded};

/// Maximum size of a message of the client, in bytes.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;

/// Serves a client until it closes its stream; calls that were accepted before are answered.
///
/// # Errors
/// If the client's stream cannot be read.
pub fn serve(
    selection: &Selection,
    input: impl BufRead,
    output: impl Write + Send,
) -> io::Result<()> {
    let client = Client {
        output: Mutex::new(output),
        running: Mutex::default(),
    };
    let (calls, queue) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| client.answer_calls(selection, queue));
        let session = Session {
            client: &client,
            calls,
            is_initialized: false,
        };
        session.read(input)
    })
}

/// A call of a tool.
struct Call {
    id: RequestId,
    version: Version,
    tool: &'static Tool,
    arguments: Map<String, Value>,
    cancel: Cancel,
}

/// Where answers go, and the calls that have none yet.
struct Client<W> {
    output: Mutex<W>,
    running: Mutex<BTreeMap<RequestId, Cancel>>,
}

impl<W: Write> Client<W> {
    fn answer_calls(&self, selection: &Selection, queue: Receiver<Call>) {
        for call in queue {
            let Call {
                id,
                version,
                tool,
                arguments,
                cancel,
            } = call;
            let called = guarded(Place::Tool(tool.name), || {
                tool.call(selection, &arguments, &cancel)
            });
            self.running.lock().remove(&id);
            // A cancelled request has no answer.
            if cancel.is_cancelled() {
                continue;
            }
            self.respond(
                &id,
                match called {
                    Some(result) => Ok(version.result(&result)),
                    None => {
                        let message = format!("layercake failed on this call of `{}`", tool.name);
                        Err(Refusal::new(INTERNAL_ERROR, message))
                    }
                },
            );
        }
    }

    fn respond(&self, id: &RequestId, result: Result<String, Refusal>) {
        self.send(&match result {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(refusal) => refusal.message(Some(id)),
        });
    }

    fn send(&self, message: &str) {
        let mut output = self.output.lock();
        let sent = writeln!(output, "{message}").and_then(|()| output.flush());
        if sent.is_err() {
            // A client that went away needs no answer.
            self.running.lock().values().for_each(Cancel::cancel);
        }
    }
}

/// A session with a client.
struct Session<'s, W> {
    client: &'s Client<W>,
    calls: Sender<Call>,
    /// Whether the client began with `initialize`, as the older version requires.
    is_initialized: bool,
}

impl<W: Write> Session<'_, W> {
    fn read(mut self, mut input: impl BufRead) -> io::Result<()> {
        loop {
            let mut line = Vec::new();
            let mut limited = input.by_ref().take(MAX_MESSAGE_BYTES + 1);
            if limited.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let is_cut = line.len() as u64 > MAX_MESSAGE_BYTES && !line.ends_with(b"\n");
            if is_cut {
                input.skip_until(b'\n')?;
                let message = format!("a message has at most {MAX_MESSAGE_BYTES} bytes");
                let refusal = Refusal::new(INVALID_REQUEST, message);
                self.client.send(&refusal.message(None));
            } else if !line.trim_ascii().is_empty() {
                self.take(&line);
            }
        }
    }

    fn take(&mut self, line: &[u8]) {
        match Message::parse(line) {
            Message::Request(request) => {
                let answered = self.answer(&request);
                if let Some(result) = answered.transpose() {
                    self.client.respond(&request.id, result);
                }
            }
            Message::Cancelled(id) => {
                if let Some(cancel) = self.client.running.lock().get(&id) {
                    cancel.cancel();
                }
            }
            Message::Other => {}
            Message::Invalid(id, refusal) => self.client.send(&refusal.message(id.as_ref())),
        }
    }

    /// The result of a request; `None` if another thread answers it.
    fn answer(&mut self, request: &Request) -> Result<Option<String>, Refusal> {
        let version = request.version(self.is_initialized)?;
        let result = match (&*request.method, version) {
            ("initialize", Version::Handshake) => {
                if self.is_initialized {
                    return Err(Refusal::new(INVALID_REQUEST, "it is initialized already"));
                }
                let result = protocol::initialized(&request.params)?;
                self.is_initialized = true;
                result
            }
            ("ping", Version::Handshake) => json!({}),
            ("server/discover", Version::PerRequest) => protocol::discovered(),
            ("tools/list", _) => {
                if request.params.get("cursor").is_some_and(|it| !it.is_null()) {
                    let message = "invalid `cursor`: the list has one page";
                    return Err(Refusal::new(INVALID_PARAMS, message));
                }
                version.tools(tools::definitions())
            }
            ("tools/call", _) => {
                self.call(request, version)?;
                return Ok(None);
            }
            _ => return Err(Refusal::new(METHOD_NOT_FOUND, version.expected_methods())),
        };
        Ok(Some(version.result(&result)))
    }

    fn call(&mut self, request: &Request, version: Version) -> Result<(), Refusal> {
        let tool = match request.params.get("name") {
            Some(Value::String(name)) => Tool::named(name),
            Some(_) | None => None,
        };
        let arguments = match request.params.get("arguments") {
            Some(Value::Object(arguments)) => arguments.clone(),
            None => Map::new(),
            Some(_) => {
                let message = "expected an object for `arguments`";
                return Err(Refusal::new(INVALID_PARAMS, message));
            }
        };
        let tool = tool.ok_or_else(|| {
            let message = format!(
                "unknown tool: expected for `name` one of {}",
                tools::names()
            );
            Refusal::new(INVALID_PARAMS, message)
        })?;
        let cancel = Cancel::default();
        let mut running = self.client.running.lock();
        if running.contains_key(&request.id) {
            let message = "a request with this `id` has no answer yet";
            return Err(Refusal::new(INVALID_REQUEST, message));
        }
        running.insert(request.id.clone(), cancel.clone());
        let call = Call {
            id: request.id.clone(),
            version,
            tool,
            arguments,
            cancel,
        };
        // The thread ends only after the last call.
        drop(self.calls.send(call));
        Ok(())
    }
}
