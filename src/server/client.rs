//! Capabilities of a client, and settings of its user.

use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use crossbeam_channel::Sender;
use gen_lsp_types::{
    CodeLensRefreshRequest, DiagnosticRefreshRequest, InlayHintRefreshRequest,
    PositionEncodingKind, Request as Method,
};
use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::requests::Refusal;
use super::text::Encoding;
use crate::commands::CheckClock;

/// A client, to which notifications and requests are sent.
#[derive(Clone, Debug)]
pub(super) struct Client {
    sender: Sender<Message>,
    /// Number of the next request.
    next: Arc<AtomicI32>,
    /// `ClientCapabilities`.
    capabilities: Value,
    pub(super) encoding: Encoding,
    pub(super) settings: Settings,
    /// Clock for the dates of certificates.
    pub(super) clock: CheckClock,
}

impl Client {
    /// Reads the parameters of `initialize`. Invalid settings have their defaults.
    pub(super) fn of(params: &Value, sender: Sender<Message>, clock: CheckClock) -> Self {
        let capabilities = params.get("capabilities").cloned().unwrap_or_default();
        let preferred = capabilities.pointer("/general/positionEncodings").cloned();
        let preferred: Option<Vec<PositionEncodingKind>> =
            preferred.and_then(|preferred| serde_json::from_value(preferred).ok());
        let settings = params.get("initializationOptions").cloned();
        Self {
            sender,
            clock,
            next: Arc::default(),
            encoding: Encoding::chosen(&preferred.unwrap_or_default()),
            settings: Settings::of(settings.unwrap_or_default()).unwrap_or_default(),
            capabilities,
        }
    }

    /// Whether it has the capability at a JSON Pointer.
    pub(super) fn can(&self, pointer: &str) -> bool {
        let capability = self.capabilities.pointer(pointer);
        !matches!(capability, None | Some(Value::Null | Value::Bool(false)))
    }

    pub(super) fn notify(&self, method: &str, params: impl Serialize) {
        let notification = Notification::new(method.to_owned(), params);
        // A client that went away ends the session.
        drop(self.sender.send(notification.into()));
    }

    /// Asks for something. Returns the id of the request.
    pub(super) fn request<M: Method>(&self, params: M::Params) -> RequestId {
        let id = RequestId::from(self.next.fetch_add(1, Relaxed));
        let request = Request::new(id.clone(), M::METHOD.to_string(), params);
        drop(self.sender.send(request.into()));
        id
    }

    pub(super) fn respond(&self, id: RequestId, answer: Result<Value, Refusal>) {
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err(Refusal { code, message }) => Response::new_err(id, code as i32, message),
        };
        drop(self.sender.send(response.into()));
    }

    /// Asks it to ask again for findings.
    pub(super) fn refresh_findings(&self) {
        if self.can("/workspace/diagnostics/refreshSupport") {
            self.request::<DiagnosticRefreshRequest>(());
        }
    }

    /// Asks it to ask again for lenses and inlay hints.
    pub(super) fn refresh_reach(&self) {
        if self.can("/workspace/codeLens/refreshSupport") {
            self.request::<CodeLensRefreshRequest>(());
        }
        if self.can("/workspace/inlayHint/refreshSupport") {
            self.request::<InlayHintRefreshRequest>(());
        }
    }

    /// Whether it reports changed files.
    pub(super) fn watches_files(&self) -> bool {
        self.can("/workspace/didChangeWatchedFiles/dynamicRegistration")
    }

    /// Whether it asks for the findings of open documents, also after an edit elsewhere changed them.
    pub(super) fn pulls_diagnostics(&self) -> bool {
        self.can("/textDocument/diagnostic") && self.can("/workspace/diagnostics/refreshSupport")
    }
}

/// Settings of the user, in the section `layercake`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// Base of comparisons: a revision, or `merge-base:REVISION`.
    pub(super) base: String,
    /// Site whose values are shown.
    pub(super) site: Option<String>,
    pub(super) code_lens: LensSettings,
    pub(super) inlay_hints: HintSettings,
}

/// Parts of the line above a document.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub(super) struct LensSettings {
    pub(super) reach: bool,
    pub(super) deployed: bool,
    pub(super) shields: bool,
    pub(super) changes: bool,
}

/// Values shown beside the text.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct HintSettings {
    pub(super) enable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base: "HEAD".to_owned(),
            site: None,
            code_lens: LensSettings::default(),
            inlay_hints: HintSettings::default(),
        }
    }
}

impl Default for LensSettings {
    fn default() -> Self {
        Self {
            reach: true,
            deployed: true,
            shields: true,
            changes: true,
        }
    }
}

impl Settings {
    /// Reads settings, given with or without the name of their section. Null has the defaults.
    ///
    /// # Errors
    /// If a value has the wrong type.
    pub(super) fn of(mut given: Value) -> serde_json::Result<Self> {
        let section = given.get_mut("layercake").map(Value::take);
        match section.unwrap_or(given) {
            Value::Null => Ok(Self::default()),
            section => serde_json::from_value(section),
        }
    }
}
