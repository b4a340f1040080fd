//! Intended differences from the reference implementations: properties of the input, each with a
//! reason.

use serde_json::Value as Json;

/// Reason for which this text need not be read as by PyYAML.
///
/// In each case libyaml accepts text that YAML, both 1.1 and 1.2, does not allow: it is reported as
/// a syntax error.
pub fn yaml_exception(text: &str) -> Option<&'static str> {
    let exceptions: [Exception; 4] = [
        (
            has_glued_comment,
            "a comment needs white space before it (YAML 1.2, 6.6)",
        ),
        (
            has_late_directive,
            "a directive comes after `...` (YAML 1.2, 9.2)",
        ),
        (
            has_deep_blank_line,
            "no blank line of a block is deeper than its text (YAML 1.2, 8.1)",
        ),
        (
            has_lone_dash_in_flow,
            "a lone `-` is not a scalar in a flow collection (YAML 1.2, 7.3.3)",
        ),
    ];
    exceptions
        .into_iter()
        .find(|(holds, _)| holds(text))
        .map(|(_, reason)| reason)
}

/// Predicate on the text, and the reason.
type Exception = (fn(&str) -> bool, &'static str);

/// `"a"# b`, `[a,#b`, `>#b`, `%YAML 1.1#b`.
fn has_glued_comment(text: &str) -> bool {
    let glued = ["\"#", "'#", ",#", ">#", "|#", "]#", "}#"];
    glued.iter().any(|pair| text.contains(pair))
        || text
            .lines()
            .any(|line| line.starts_with('%') && line.contains('#'))
}

/// `%YAML` or `%TAG` after content without `...` in between.
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

/// Below `|` or `>`, a blank line longer than the indent of the next line.
fn has_deep_blank_line(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_header = |line: &str| line.trim_end_matches(['+', '-']).ends_with(['|', '>']);
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_header(line))
        .any(|(header, _)| {
            let below = &lines[header + 1..];
            let blanks: Vec<_> = below.iter().take_while(|line| line.trim() == "").collect();
            let next = below
                .get(blanks.len())
                .map_or(0, |line| line.len() - line.trim_start().len());
            blanks.iter().any(|blank| blank.len() > next)
        })
}

/// `[-]`.
fn has_lone_dash_in_flow(text: &str) -> bool {
    ["-]", "-,", "-}", "-["].iter().any(|pair| {
        text.match_indices(pair)
            .any(|(at, _)| text[..at].ends_with(['[', '{', ',', ' ']))
    })
}

/// Reason for which this set of documents need not be rendered as by Deckhand.
///
/// All three are effects of shared mutable objects in Deckhand, which `semantics.md` excludes for
/// both meanings.
pub fn layering_exception(documents: &[Json], options: &Json) -> Option<&'static str> {
    let exceptions: [(bool, &'static str); 3] = [
        (
            has_nested_replacement(documents),
            "the data that others get from a replaced replacement depends on the order of documents",
        ),
        (
            destinations(documents).any(is_several_places),
            "a value written to several locations by one path is a single shared object",
        ),
        (
            options["fail_on_missing_sub_src"] == false
                && destinations(documents).any(cannot_be_created),
            "a failed write keeps the containers that it created",
        ),
    ];
    exceptions
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, reason)| reason)
}

/// Two replacement documents with the same schema and name.
fn has_nested_replacement(documents: &[Json]) -> bool {
    let replacements: Vec<&Json> = documents
        .iter()
        .filter(|it| it["metadata"]["replacement"] == true)
        .collect();
    let identity = |it: &Json| (it["schema"].clone(), it["metadata"]["name"].clone());
    replacements.iter().enumerate().any(|(index, document)| {
        replacements[..index]
            .iter()
            .any(|other| identity(other) == identity(document))
    })
}

/// All destination paths of all substitutions.
fn destinations(documents: &[Json]) -> impl Iterator<Item = &str> {
    let substitutions = documents
        .iter()
        .filter_map(|it| it["metadata"]["substitutions"].as_array())
        .flatten();
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

/// Quotes, doubled brackets and operators: Deckhand creates paths by splitting the text at dots,
/// and then cannot find them (`deckhand.md` 10.6).
fn cannot_be_created(path: &str) -> bool {
    path.contains(['\'', '"', '`', '(', ' ']) || path.contains("][") || is_several_places(path)
}

/// Reason for which this cloud-init case need not have the recorded result.
pub fn cloud_init_exception(case: &Json) -> Option<&'static str> {
    let exceptions: [(bool, &'static str); 2] = [
        (
            case.get("instance_data").is_some() || has_template(&case["files"]),
            "a template is rendered with data of the instance",
        ),
        (
            case["mode"] == "stack"
                && ["ds", "env", "files"]
                    .iter()
                    .any(|it| case.get(it).is_some()),
            "data from the datasource, `$CLOUD_CFG` and `--file` is not in a repository",
        ),
    ];
    exceptions
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, reason)| reason)
}

/// File that is a template if there is an instance.
fn has_template(files: &Json) -> bool {
    let mut texts = files
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, text)| text.as_str());
    texts.any(|text| text.starts_with("## template: jinja"))
}
