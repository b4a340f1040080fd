//! Where we differ from a reference implementation on purpose: properties of
//! the input, each with its reason.

use serde_json::Value as Json;

/// Why this text need not be read as PyYAML reads it, if so.
///
/// Each is a text that libyaml takes and YAML, 1.1 and 1.2 alike, does not
/// allow: it is reported as a syntax error.
pub fn yaml_exception(text: &str) -> Option<&'static str> {
    let exceptions: [Exception; 4] = [
        (has_glued_comment, "a comment needs white space before it (YAML 1.2, 6.6)"),
        (has_late_directive, "a directive comes after `...` (YAML 1.2, 9.2)"),
        (has_deep_blank_line, "no blank line of a block is deeper than its text (YAML 1.2, 8.1)"),
        (has_lone_dash_in_flow, "`-` alone is no text in a flow collection (YAML 1.2, 7.3.3)"),
    ];
    exceptions.into_iter().find(|(holds, _)| holds(text)).map(|(_, reason)| reason)
}

/// What holds of the text, and the reason.
type Exception = (fn(&str) -> bool, &'static str);

/// `"a"# b`, `[a,#b`, `>#b`, `%YAML 1.1#b`.
fn has_glued_comment(text: &str) -> bool {
    let glued = ["\"#", "'#", ",#", ">#", "|#", "]#", "}#"];
    glued.iter().any(|pair| text.contains(pair))
        || text.lines().any(|line| line.starts_with('%') && line.contains('#'))
}

/// `%YAML` or `%TAG` after content that no `...` ended.
fn has_late_directive(text: &str) -> bool {
    let mut is_open = false;
    text.lines().any(|line| {
        let is_late = is_open && line.starts_with('%');
        is_open = match line {
            "" => is_open,
            _ if line.starts_with("...") => false,
            _ if line.starts_with(['%', '#']) => is_open,
            _ => true,
        };
        is_late
    })
}

/// Below `|` or `>`, a line of blanks longer than the next line's indent.
fn has_deep_blank_line(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_header = |line: &str| line.trim_end_matches(['+', '-']).ends_with(['|', '>']);
    lines.iter().enumerate().filter(|(_, line)| is_header(line)).any(|(header, _)| {
        let below = &lines[header + 1..];
        let blanks: Vec<_> = below.iter().take_while(|line| line.trim() == "").collect();
        let next = below.get(blanks.len()).map_or(0, |line| line.len() - line.trim_start().len());
        blanks.iter().any(|blank| blank.len() > next)
    })
}

/// `[-]`.
fn has_lone_dash_in_flow(text: &str) -> bool {
    ["-]", "-,", "-}", "-["].iter().any(|pair| {
        text.match_indices(pair).any(|(at, _)| text[..at].ends_with(['[', '{', ',', ' ']))
    })
}

/// Why this set of documents need not render as Deckhand renders it, if so.
///
/// All three are results of Deckhand's objects being shared and changed in
/// place, which `semantics.md` rules out for both meanings.
pub fn layering_exception(documents: &[Json], options: &Json) -> Option<&'static str> {
    let exceptions: [(bool, &'static str); 3] = [
        (
            has_nested_replacement(documents),
            "what a replaced replacement gives to others depends on the documents' order",
        ),
        (
            destinations(documents).any(is_several_places),
            "a value written to several places by one path is one object from then on",
        ),
        (
            options["fail_on_missing_sub_src"] == false
                && destinations(documents).any(cannot_be_created),
            "a write that fails leaves behind what it had created on its way",
        ),
    ];
    exceptions.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
}

/// Two documents that say they replace, of one schema and name.
fn has_nested_replacement(documents: &[Json]) -> bool {
    let replacements: Vec<&Json> =
        documents.iter().filter(|it| it["metadata"]["replacement"] == true).collect();
    let identity = |it: &Json| (it["schema"].clone(), it["metadata"]["name"].clone());
    replacements.iter().enumerate().any(|(index, document)| {
        replacements[..index].iter().any(|other| identity(other) == identity(document))
    })
}

/// Every destination path of every substitution.
fn destinations(documents: &[Json]) -> impl Iterator<Item = &str> {
    let substitutions =
        documents.iter().filter_map(|it| it["metadata"]["substitutions"].as_array()).flatten();
    let each = substitutions.flat_map(|substitution| match &substitution["dest"] {
        Json::Array(several) => several.iter().collect::<Vec<_>>(),
        one => vec![one],
    });
    each.filter_map(|dest| dest["path"].as_str())
}

/// Unions, wildcards, slices and descendants.
fn is_several_places(path: &str) -> bool {
    path.contains(',')
        || path.contains('|')
        || path.contains('*')
        || path.contains("..")
        || path.contains(':')
}

/// Quotes, doubled brackets and operators: what Deckhand creates by cutting
/// the text at its dots, it then does not find (`deckhand.md` 10.6).
fn cannot_be_created(path: &str) -> bool {
    path.contains(['\'', '"', '`', '(', ' ']) || path.contains("][") || is_several_places(path)
}

/// Why this case of cloud-init's need not come to what was recorded, if so.
pub fn cloud_init_exception(case: &Json) -> Option<&'static str> {
    let exceptions: [(bool, &'static str); 2] = [
        (
            case.get("instance_data").is_some() || has_template(&case["files"]),
            "a template is rendered with what only the instance knows",
        ),
        (
            case["mode"] == "stack"
                && ["ds", "env", "files"].iter().any(|it| case.get(it).is_some()),
            "what the datasource, `$CLOUD_CFG` and `--file` give is in no repository",
        ),
    ];
    exceptions.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
}

/// A file that is a template wherever there is an instance.
fn has_template(files: &Json) -> bool {
    let mut texts = files.as_object().into_iter().flatten().filter_map(|(_, text)| text.as_str());
    texts.any(|text| text.starts_with("## template: jinja"))
}
