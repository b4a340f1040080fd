//! A client in this process.

use std::collections::BTreeSet;

use layercake::commands::Selection;
use layercake::mcp;
use serde_json::{Map, Value as Json, json};

use crate::cli::Sandbox;

/// Maximum size of a page: 2,000 tokens of 4 bytes.
pub const MAX_PAGE: usize = 8_000;

/// Messages of the server after these lines of a client, which then closes its stream.
pub fn answered(sandbox: &Sandbox, lines: &[impl AsRef<[u8]>]) -> Vec<Json> {
    let mut input = Vec::new();
    for line in lines {
        input.extend_from_slice(line.as_ref());
        input.push(b'\n');
    }
    let mut output = Vec::new();
    mcp::serve(&Selection::of(sandbox.root.clone()), &*input, &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A request of version 2026-07-28.
pub fn request(id: usize, method: &str, params: Json) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub fn call(id: usize, tool: &str, arguments: &Json) -> String {
    request(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}

/// The page of one call, or the error of the tool.
pub fn page(sandbox: &Sandbox, tool: &str, arguments: &Json) -> Result<Json, Json> {
    let messages = answered(sandbox, &[call(1, tool, arguments)]);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let result = &messages[0]["result"];
    let structured = result["structuredContent"].clone();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() <= MAX_PAGE, "{} bytes: {text}", text.len());
    assert_eq!(
        serde_json::from_str::<Json>(text).unwrap(),
        structured,
        "text and structured content are the same"
    );
    if result["isError"] == true {
        Err(structured)
    } else {
        Ok(structured)
    }
}

/// A complete answer.
#[derive(Debug)]
pub struct Whole {
    /// Fields of each page besides its entries.
    pub facts: Map<String, Json>,
    pub entries: Vec<Json>,
    pub pages: usize,
}

impl Whole {
    /// Fields of the entries of a kind, without `id` and `entry`, with those in `untrusted`.
    pub fn of(&self, kind: &str) -> Vec<Json> {
        let entries = self.entries.iter().filter(|entry| entry["entry"] == kind);
        let fields = |entry: &Json| {
            let mut fields = entry.as_object().unwrap().clone();
            fields.remove("id");
            fields.remove("entry");
            let untrusted = fields.remove("untrusted").unwrap_or_else(|| json!({}));
            fields.extend(untrusted.as_object().unwrap().clone());
            Json::Object(fields)
        };
        entries.map(fields).collect()
    }
}

/// All pages of an answer, joined.
pub fn whole(sandbox: &Sandbox, tool: &str, arguments: &Json) -> Whole {
    let (mut facts, mut entries, mut pages) = (None, Vec::new(), 0);
    let mut parts = String::new();
    let mut arguments = arguments.clone();
    loop {
        let page = page(sandbox, tool, &arguments).unwrap();
        pages += 1;
        let mut page = page.as_object().unwrap().clone();
        let cursor = page.remove("cursor");
        let complete = page.remove("complete").unwrap();
        let listed = page.remove("entries").unwrap();
        assert_eq!(
            *facts.get_or_insert_with(|| page.clone()),
            page,
            "all pages have the same facts"
        );
        for entry in listed.as_array().unwrap() {
            let Some(piece) = entry.get("piece") else {
                entries.push(entry.clone());
                continue;
            };
            parts += entry["untrusted"]["json"].as_str().unwrap();
            if *piece == entry["pieces"] {
                entries.push(serde_json::from_str(&parts).unwrap());
                parts.clear();
            }
        }
        let Some(cursor) = cursor else {
            let mut gaps = page["gaps"].as_array().unwrap().iter();
            assert_eq!(complete, gaps.all(|gap| gap == "not_compared"));
            break;
        };
        assert_eq!(complete, false, "a page follows");
        arguments["cursor"] = cursor;
    }
    let ids: BTreeSet<&str> = entries
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), entries.len(), "ids are unique");
    let facts = facts.unwrap();
    assert_eq!(facts["entries_of_all_pages"], entries.len());
    Whole {
        facts,
        entries,
        pages,
    }
}
