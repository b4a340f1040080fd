//! Questions of the client, by method.

use std::path::PathBuf;

use gen_lsp_types::{ExecuteCommandParams, LspRequestMethod, TextDocumentContentParams, Uri};
use lsp_server::{ErrorCode, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::asked::Asked;
use super::client::Client;
use super::folder::Folder;
use super::rendered::{CommandPlace, ReadOnlyText};
use super::uri::path_of;
use super::worker::OpenDocuments;
use super::{
    actions, base, completion, findings, hierarchy, hints, hover, navigate, outline, reach, rename,
    rendered, site_definition,
};
use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind};
use crate::source::RepoPath;

/// A question with what answers it.
pub(super) struct Question<'q> {
    pub(super) request: &'q Request,
    pub(super) folders: &'q mut [Folder],
    pub(super) documents: &'q OpenDocuments,
    pub(super) client: &'q Client,
    pub(super) cancel: &'q Cancel,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn cancelled() -> Self {
        Self {
            code: ErrorCode::RequestCanceled,
            message: "the request was cancelled".to_owned(),
        }
    }

    pub(super) fn failed() -> Self {
        Self {
            code: ErrorCode::InternalError,
            message: "layercake failed on this question".to_owned(),
        }
    }

    pub(super) fn unknown(method: &str) -> Self {
        Self {
            code: ErrorCode::MethodNotFound,
            message: format!("unknown request `{method}`"),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.code as i32 == ErrorCode::RequestCanceled as i32
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Cancelled => Self::cancelled(),
            _ => Self {
                code: ErrorCode::RequestFailed,
                message: error.to_string(),
            },
        }
    }
}

type Handler = fn(Question<'_>) -> Result<Value, Refusal>;

/// Handler of a method; `None` for an unknown one.
fn handler(method: &str) -> Option<Handler> {
    Some(match LspRequestMethod::from(method) {
        LspRequestMethod::TextDocumentHover => |it| it.reply(hover::answer),
        LspRequestMethod::TextDocumentDefinition => |it| it.reply(navigate::definition),
        LspRequestMethod::TextDocumentDeclaration => |it| it.reply(navigate::declaration),
        LspRequestMethod::TextDocumentImplementation => |it| it.reply(navigate::implementation),
        LspRequestMethod::TextDocumentReferences => |it| it.reply(navigate::references),
        LspRequestMethod::TextDocumentDocumentLink => |it| it.show(site_definition::links),
        LspRequestMethod::TextDocumentDocumentSymbol => |it| it.show(outline::symbols),
        LspRequestMethod::TextDocumentFoldingRange => |it| it.show(outline::folding),
        LspRequestMethod::TextDocumentSelectionRange => |it| it.show(outline::selections),
        LspRequestMethod::TextDocumentCodeAction => |it| it.reply(actions::answer),
        LspRequestMethod::TextDocumentPrepareRename => |it| it.reply(rename::prepare),
        LspRequestMethod::TextDocumentRename => |it| it.reply(rename::answer),
        LspRequestMethod::TextDocumentCompletion => |it| it.reply(completion::answer),
        LspRequestMethod::TextDocumentInlayHint => |it| it.reply(hints::answer),
        LspRequestMethod::TextDocumentDiagnostic => |it| it.show(findings::report),
        LspRequestMethod::TextDocumentCodeLens => |it| it.show(reach::lenses),
        LspRequestMethod::CodeLensResolve => |it| it.reply(reach::resolved),
        LspRequestMethod::WorkspaceExecuteCommand => |it| it.run_command(),
        LspRequestMethod::WorkspaceTextDocumentContent => |it| it.rendered_text(),
        LspRequestMethod::Custom(base::CHANGES) => |it| it.reply(base::changes),
        LspRequestMethod::TextDocumentPrepareCallHierarchy => |it| it.reply(hierarchy::prepare),
        LspRequestMethod::CallHierarchyIncomingCalls => |it| it.reply(hierarchy::incoming),
        LspRequestMethod::CallHierarchyOutgoingCalls => |it| it.reply(hierarchy::outgoing),
        LspRequestMethod::TextDocumentPrepareTypeHierarchy => |it| it.reply(hierarchy::prepare),
        LspRequestMethod::TypeHierarchySupertypes => |it| it.reply(hierarchy::supertypes),
        LspRequestMethod::TypeHierarchySubtypes => |it| it.reply(hierarchy::subtypes),
        _ => return None,
    })
}

/// Whether a method is answered here.
pub(super) fn is_known(method: &str) -> bool {
    handler(method).is_some()
}

/// Whether a question waits for findings: of the current state, or of the text that it is about.
pub(super) fn waits_for_findings(request: &Request, folders: &[Folder]) -> bool {
    match LspRequestMethod::from(&*request.method) {
        LspRequestMethod::TextDocumentDiagnostic => folders.iter().any(Folder::is_outdated),
        LspRequestMethod::TextDocumentCodeAction => file(&request.params)
            .is_some_and(|file| folders.iter().any(|folder| folder.is_unjudged(&file))),
        _ => false,
    }
}

impl<'q> Question<'q> {
    /// Answers the question. For a file of no folder, the answer is empty.
    ///
    /// # Errors
    /// If its parameters are invalid, or if a run fails or is cancelled.
    pub(super) fn answer(self) -> Result<Value, Refusal> {
        let method = &*self.request.method;
        handler(method).ok_or_else(|| Refusal::unknown(method))?(self)
    }

    /// Answers by asking the sites.
    fn reply<P: DeserializeOwned, R: Serialize>(
        self,
        answer: fn(&mut Asked<'_>, P) -> Result<R, Error>,
    ) -> Result<Value, Refusal> {
        let params = parsed(&self.request.params)?;
        match self.asked() {
            Some(mut asked) => Ok(value_of(answer(&mut asked, params)?)),
            None => Ok(Value::Null),
        }
    }

    /// Answers from what is known of the file.
    fn show<P: DeserializeOwned, R: Serialize>(
        self,
        answer: fn(&Asked<'_>, P) -> R,
    ) -> Result<Value, Refusal> {
        let params = parsed(&self.request.params)?;
        let method = LspRequestMethod::from(&*self.request.method);
        let is_report = method == LspRequestMethod::TextDocumentDiagnostic;
        Ok(match self.asked() {
            Some(asked) => value_of(answer(&asked, params)),
            // The only answer that cannot be null.
            None if is_report => json!({"kind": "full", "items": []}),
            None => Value::Null,
        })
    }

    /// Runs a command at the place in its argument.
    fn run_command(self) -> Result<Value, Refusal> {
        let command: ExecuteCommandParams = parsed(&self.request.params)?;
        let argument = command.arguments.into_iter().flatten().next();
        let place: CommandPlace = parsed(&argument.unwrap_or_default())?;
        let command = &*command.command;
        let Some(mut asked) = self.asked() else {
            return Ok(Value::Null);
        };
        match command {
            reach::OUTPUTS => Ok(value_of(reach::outputs(&mut asked, &place)?)),
            rendered::DOCUMENTS => Ok(value_of(rendered::documents_at(&mut asked, &place)?)),
            other => Err(Refusal {
                code: ErrorCode::InvalidParams,
                message: format!("unknown command `{other}`"),
            }),
        }
    }

    /// The text of a rendered document of an opened folder.
    fn rendered_text(self) -> Result<Value, Refusal> {
        let params: TextDocumentContentParams = parsed(&self.request.params)?;
        let unknown = || Refusal {
            code: ErrorCode::InvalidParams,
            message: format!("`{}` is not an address of an opened folder", params.uri),
        };
        let address = ReadOnlyText::parse(&params.uri).ok_or_else(unknown)?;
        let folders = self.folders.iter_mut();
        let mut opened = folders.filter_map(|folder| folder.opened.as_mut());
        let folder = opened.find(|folder| folder.path == address.folder());
        let folder = folder.ok_or_else(unknown)?;
        let file = RepoPath::new("");
        let mut asked = Asked::new(folder, self.client, file, self.documents, self.cancel);
        Ok(value_of(address.text(&mut asked)?))
    }

    /// The question about its file, in the folder that has it.
    fn asked(self) -> Option<Asked<'q>> {
        let path = file(&self.request.params)?;
        let folders = self.folders.iter_mut();
        let mut opened = folders.filter_map(|folder| folder.opened.as_mut());
        let (file, folder) =
            opened.find_map(|folder| Some((RepoPath::of_place(&folder.root, &path)?, folder)))?;
        Some(Asked::new(
            folder,
            self.client,
            file,
            self.documents,
            self.cancel,
        ))
    }
}

fn parsed<P: DeserializeOwned>(params: &Value) -> Result<P, Refusal> {
    P::deserialize(params).map_err(|error| Refusal {
        code: ErrorCode::InvalidParams,
        message: format!("invalid parameters: {error}"),
    })
}

fn value_of(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are JSON")
}

/// The file that parameters are about.
fn file(params: &Value) -> Option<PathBuf> {
    const POINTERS: [&str; 4] = [
        "/textDocument/uri",
        "/item/uri",
        "/data/uri",
        "/arguments/0/textDocument/uri",
    ];
    let address = POINTERS.iter().find_map(|pointer| params.pointer(pointer));
    path_of(&Uri::from(address?.as_str()?))
}
