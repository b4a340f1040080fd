//! Both versions of the protocol.

use serde_json::{Value as Json, json};

use super::client::{answered, request};
use crate::cli::Sandbox;

/// A request without a version.
fn plain(id: usize, method: &str, params: &Json) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn initialize(version: &str) -> String {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    plain(1, "initialize", &params)
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Codes of errors; 0 for results.
fn codes(messages: &[Json]) -> Vec<i64> {
    let code = |message: &Json| message["error"]["code"].as_i64().unwrap_or_default();
    messages.iter().map(code).collect()
}

#[test]
fn older_version_begins_with_initialize() {
    let sandbox = Sandbox::with_sites();
    let call = json!({"name": "findings", "arguments": {}});
    let messages = answered(
        &sandbox,
        &[
            &*initialize("2025-11-25"),
            INITIALIZED,
            &plain(2, "ping", &json!({})),
            &plain(3, "tools/list", &json!({})),
            &plain(4, "tools/call", &call),
            &plain(5, "server/discover", &json!({})),
            &initialize("2025-11-25"),
        ],
    );
    assert_eq!(messages[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(messages[0]["result"]["capabilities"], json!({"tools": {}}));
    assert_eq!(messages[0]["result"]["serverInfo"]["name"], "layercake");
    assert_eq!(
        messages[1],
        json!({"jsonrpc": "2.0", "id": 2, "result": {}})
    );
    let tools = messages[2]["result"].as_object().unwrap();
    assert_eq!(tools.keys().collect::<Vec<_>>(), ["tools"]);
    // A call is answered by another thread.
    let [called, refused @ ..] = &mut sorted(messages)[3..] else {
        panic!()
    };
    assert_eq!(called["result"]["isError"], false);
    assert_eq!(called["result"].get("resultType"), None);
    assert_eq!(codes(refused), [-32601]);
}

/// Messages by id; of equal ids, only the first.
fn sorted(mut messages: Vec<Json>) -> Vec<Json> {
    messages.sort_by_key(|message| message["id"].as_u64());
    messages.dedup_by_key(|message| message["id"].as_u64());
    messages
}

#[test]
fn client_of_another_version_is_offered_the_supported_one() {
    let sandbox = Sandbox::with_sites();
    for version in ["2024-11-05", "2026-07-28", "3000-01-01"] {
        let messages = answered(&sandbox, &[initialize(version)]);
        assert_eq!(messages[0]["result"]["protocolVersion"], "2025-11-25");
    }
    let nameless = plain(1, "initialize", &json!({}));
    assert_eq!(codes(&answered(&sandbox, &[nameless])), [-32602]);
    let twice = answered(
        &sandbox,
        &[initialize("2025-11-25"), initialize("2025-11-25")],
    );
    assert_eq!(codes(&twice), [0, -32600]);
}

#[test]
fn request_before_initialize_is_refused() {
    let sandbox = Sandbox::with_sites();
    let call = json!({"name": "findings", "arguments": {}});
    let messages = answered(
        &sandbox,
        &[
            &*plain(1, "tools/list", &json!({})),
            &plain(2, "tools/call", &call),
            &plain(3, "server/discover", &json!({})),
            INITIALIZED,
            &plain(4, "tools/list", &json!({})),
            &plain(5, "ping", &json!({})),
        ],
    );
    assert_eq!(codes(&messages), [-32602, -32602, -32602, -32602, 0]);
    let message = messages[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("`initialize` first"), "{message}");
    assert!(
        message.contains("io.modelcontextprotocol/protocolVersion"),
        "{message}"
    );
}

#[test]
fn newer_version_is_named_in_each_request() {
    let sandbox = Sandbox::with_sites();
    let messages = answered(
        &sandbox,
        &[
            request(1, "server/discover", json!({})),
            request(2, "tools/list", json!({})),
            request(3, "ping", json!({})),
            request(4, "initialize", json!({"protocolVersion": "2026-07-28"})),
            request(5, "tools/call", json!({"name": "findings"})),
        ],
    );
    let [discovered, listed, ping, initialized, called] = &*messages else {
        panic!("{messages:?}")
    };
    let versions = json!(["2026-07-28", "2025-11-25"]);
    assert_eq!(discovered["result"]["supportedVersions"], versions);
    assert_eq!(discovered["result"]["capabilities"], json!({"tools": {}}));
    for cacheable in [discovered, listed] {
        assert_eq!(cacheable["result"]["ttlMs"], 3_600_000);
        assert_eq!(cacheable["result"]["cacheScope"], "public");
    }
    for message in [discovered, listed, called] {
        let result = &message["result"];
        assert_eq!(result["resultType"], "complete");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    }
    assert_eq!(
        codes(&[ping.clone(), initialized.clone()]),
        [-32601, -32601]
    );
    let older = answered(
        &sandbox,
        &[initialize("2025-11-25"), plain(2, "tools/list", &json!({}))],
    );
    assert_eq!(older[1]["result"]["tools"], listed["result"]["tools"]);
}

#[test]
fn other_versions_are_refused_with_the_supported_ones() {
    let sandbox = Sandbox::with_sites();
    let with_meta = |meta: &Json| plain(1, "tools/list", &json!({"_meta": meta}));
    let version = "io.modelcontextprotocol/protocolVersion";
    let unsupported = answered(&sandbox, &[with_meta(&json!({version: "1900-01-01"}))]);
    let data = json!({"supported": ["2026-07-28", "2025-11-25"], "requested": "1900-01-01"});
    assert_eq!(unsupported[0]["error"]["code"], -32022);
    assert_eq!(unsupported[0]["error"]["data"], data);
    for meta in [
        json!({version: "2026-07-28"}),
        json!({version: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": 1}),
        json!({version: 20260728}),
        json!({version: "2025-11-25"}),
        json!([]),
    ] {
        assert_eq!(
            codes(&answered(&sandbox, &[with_meta(&meta)])),
            [-32602],
            "{meta}"
        );
    }
}

#[test]
fn tools_are_read_only_and_strict() {
    let sandbox = Sandbox::with_sites();
    let listed = answered(&sandbox, &[request(1, "tools/list", json!({}))]);
    let tools = listed[0]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "changes",
            "impact",
            "explain_value",
            "findings",
            "render",
            "blame"
        ]
    );
    for tool in tools {
        let annotations = json!({"readOnlyHint": true, "openWorldHint": false});
        assert_eq!(tool["annotations"], annotations);
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(name.as_str().unwrap()).is_some());
        }
        assert!(schema["properties"].get("cursor").is_some());
    }
    let paged = request(1, "tools/list", json!({"cursor": "1"}));
    assert_eq!(codes(&answered(&sandbox, &[paged])), [-32602]);
}
