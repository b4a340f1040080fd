//! The program `layercake mcp`.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value as Json, json};

use super::client::call;
use crate::cli::Sandbox;
use crate::cli::piped::Piped;

struct Program(Piped);

impl Program {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self(Piped::start(sandbox, arguments))
    }

    fn ask(&mut self, message: &str) -> Json {
        let input = self.0.input();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
        let mut line = String::new();
        self.0.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Exit code after the end of its input, and standard error.
    fn end(self) -> (Option<i32>, String) {
        self.0.end()
    }
}

#[test]
fn it_answers_until_its_input_ends() {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    sandbox.commit();
    let mut program = Program::start(&sandbox, &["mcp"]);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
    });
    let initialized = program.ask(&initialize.to_string());
    assert_eq!(initialized["result"]["serverInfo"]["name"], "layercake");
    let answer = program.ask(&call(1, "findings", &json!({})));
    let page = &answer["result"]["structuredContent"];
    assert_eq!(page["totals"]["findings"]["errors"], 1);
    let answer = program.ask(&call(2, "blame", &json!({"site": "lab"})));
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(program.end(), (Some(0), String::new()));
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]),
        "",
        "nothing is written"
    );
}

#[test]
fn it_ends_at_once_without_input() {
    let sandbox = Sandbox::with_sites();
    let program = Program::start(&sandbox, &["mcp"]);
    assert_eq!(program.end(), (Some(0), String::new()));
}

/// A failure of layercake costs one call.
#[test]
fn failure_of_a_call_is_its_answer() {
    let sandbox = Sandbox::with_sites();
    let arguments = ["debug", "fail", "--at", "tool:findings", "--", "mcp"];
    let mut program = Program::start(&sandbox, &arguments);
    let failed = program.ask(&call(1, "findings", &json!({})));
    assert_eq!(failed["error"]["code"], -32603);
    let answer = program.ask(&call(2, "render", &json!({"site": "lab"})));
    assert_eq!(answer["result"]["isError"], false);
    let (code, errors) = program.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("failed at"), "{errors}");
}

/// A failure at a part of an answer is a gap.
#[test]
fn failure_at_a_document_is_a_gap() {
    let sandbox = Sandbox::with_sites();
    let arguments = ["debug", "fail", "--at", "document:only", "--", "mcp"];
    let mut program = Program::start(&sandbox, &arguments);
    let answer = program.ask(&call(1, "findings", &json!({})));
    let page = &answer["result"]["structuredContent"];
    assert_eq!(page["verdict"]["outcome"], "internal-error");
    assert_eq!(page["gaps"], json!(["not_compared", "failed"]));
    assert_eq!(page["complete"], false);
    assert_eq!(program.end().0, Some(0));
}
