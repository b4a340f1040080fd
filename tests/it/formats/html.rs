//! The page is read here as a browser reads it, without a script. What the
//! script adds is tried in a browser, by `.ci/page`.

use std::collections::BTreeSet;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scraper::{ElementRef, Html, Selector};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::cli::{Sandbox, document};

/// What is put behind every text of a hostile report.
const HOSTILE: &str = "</style></title><!--<script>ran=1</script>\"><img src=x onerror='ran=1'>&amp;&#39; \
                       javascript:alert(1) %0A ``` \u{202e}gnp.\u{7}\t\r\n]]>";

/// A repository with a commit and edits since: one that reaches both sites by
/// inheritance and is stopped in one of them, one of a secret, one without
/// effect, and one that makes a finding elsewhere.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("global/parent.yaml", parent("replicas: 1\n    text: |\n      one\n      two\n"));
    sandbox.write("site/lab/child.yaml", child("{}"));
    sandbox.write("site/prod/child.yaml", child("{values: {replicas: 7}}"));
    sandbox.write("global/secret.yaml", secret("first-canary"));
    sandbox.write("global/source.yaml", document("source", "global", "{value: 1}"));
    sandbox.write("site/lab/reader.yaml", reader());
    sandbox.break_site("prod");
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent("replicas: 2\n    text: |\n      one\n      2\n"));
    sandbox.write("global/secret.yaml", secret("second-canary"));
    fs::remove_file(sandbox.path("global/source.yaml")).unwrap();
    sandbox
}

fn parent(values: &str) -> String {
    document("parent", "global", &format!("\n  values:\n    {values}"))
        .replace("  storagePolicy", "  labels: {is: parent}\n  storagePolicy")
}

fn child(data: &str) -> String {
    document("child", "site", data).replace(
        "{abstract: false, layer: site}",
        "\n    abstract: false\n    layer: site\n    parentSelector: {is: parent}\n    \
         actions: [{method: merge, path: .}]",
    )
}

fn secret(text: &str) -> String {
    document("secret", "global", &format!("{{password: {text}}}"))
        .replace("storagePolicy: cleartext", "storagePolicy: encrypted")
}

fn reader() -> String {
    let substitution = "  substitutions:\n    - src: {schema: example/Any/v1, name: source, path: \
                        .value}\n      dest: {path: .value}\n";
    document("reader", "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"))
}

/// The page of a run, and the report it shows.
fn page(sandbox: &Sandbox, arguments: &[&str]) -> (String, Json) {
    let [page, report] = ["page.html", "report.json"].map(|it| sandbox.beside(it));
    let [to_page, to_report] =
        [("html", &page), ("json", &report)].map(|(it, file)| format!("{it}={}", file.display()));
    let ran = sandbox.run(&[&["lint", "-o", &to_page, "-o", &to_report], arguments].concat());
    assert!(ran.code < 2, "{ran:?}");
    let report = fs::read_to_string(report).unwrap();
    (fs::read_to_string(page).unwrap(), serde_json::from_str(&report).unwrap())
}

/// The page of a report that somebody saved.
fn page_of(report: &Json) -> String {
    let sandbox = Sandbox::outside_git();
    sandbox.write("report.json", report.to_string());
    let ran =
        sandbox.run(&["report", "report.json", "-o", "html", "--all-findings", "--show-ignored"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

/// A report with every text made hostile that is no word of the format.
fn hostile(report: &Json) -> Json {
    /// Where only certain words, names of the report or addresses can stand.
    const WORDS: [&str; 29] = [
        "sha",
        "tree",
        "chosen_by",
        "fingerprint",
        "rule",
        "level",
        "schema",
        "version",
        "id",
        "edit",
        "route",
        "group",
        "joint",
        "caused_by",
        "severity",
        "state",
        "status",
        "links",
        "tool",
        "extent",
        "kind",
        "part",
        "verified",
        "op",
        "via",
        "why",
        "pointer",
        "meaning",
        "safety",
    ];
    match report {
        Json::String(text) => Json::String(format!("{text}{HOSTILE}")),
        Json::Array(items) => items.iter().map(hostile).collect(),
        Json::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let is_text = entries.contains_key("label") && key == "text";
                let is_word =
                    is_text || WORDS.contains(&&**key) && !(key == "schema" && entries.len() > 3);
                let is_line = entries.contains_key("line") && key == "text";
                let other = match (is_word, value.as_str().filter(|_| is_line)) {
                    (true, _) => value.clone(),
                    (false, Some(line)) => format!("{line}{}", HOSTILE.replace("\r\n", "")).into(),
                    (false, None) => hostile(value),
                };
                (key.clone(), other)
            })
            .collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => report.clone(),
    }
}

fn hostile_report() -> Json {
    let mut report = hostile(&page(&repository(), &["--since", "HEAD", "--all-findings"]).1);
    report["schema"] = "urn:layercake:report:1".into();
    report["links"] = "https://git.example.org/{sha}/{path}?x='#L{line}".into();
    report
}

fn all<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

fn attributes<'a>(html: &'a Html, name: &str) -> Vec<&'a str> {
    all(html, &format!("[{name}]")).into_iter().filter_map(|it| it.attr(name)).collect()
}

/// The page as a browser reads it, which has nothing to say against it.
#[track_caller]
fn read(page: &str) -> Html {
    let html = Html::parse_document(page);
    assert!(html.errors.is_empty(), "{:#?}", html.errors);
    assert_elements(&html);
    assert_links(&html);
    assert_headings(&html);
    html
}

/// That nothing is there which could run or fetch, but what the policy allows.
#[track_caller]
fn assert_elements(html: &Html) {
    const RUNS_OR_FETCHES: &str = "img, iframe, object, embed, link, base, form, video, audio, svg, \
                                   math, template, portal, [src], [style], [srcdoc], [action], \
                                   [formaction], [background], [ping], [poster]";
    assert_eq!(all(html, RUNS_OR_FETCHES).len(), 0);
    assert_eq!((all(html, "script").len(), all(html, "style").len()), (1, 1));
    assert_eq!(all(html, "meta[http-equiv]").len(), 1);
    for element in all(html, "*") {
        let mut names = element.value().attrs().map(|(name, _)| name);
        assert!(!names.any(|name| name.starts_with("on")), "{:?}", element.value());
    }
    let policy = all(html, "meta[http-equiv]")[0].attr("content").unwrap();
    let hash = |element: &str| {
        let digest = Sha256::digest(text(all(html, element)[0]));
        format!("'sha256-{}'", STANDARD.encode(digest))
    };
    let (script, style) = (hash("script"), hash("style"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; \
             form-action 'none'"
        )
    );
}

#[track_caller]
fn assert_links(html: &Html) {
    let ids = attributes(html, "id");
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "two things have one name");
    for href in attributes(html, "href") {
        match href.strip_prefix('#') {
            Some(id) => assert!(known.contains(id), "`{href}` leads nowhere"),
            None => assert!(href.starts_with("https://git.example.org/"), "{href}"),
        }
    }
    for name in ["aria-labelledby", "aria-describedby", "for"] {
        for id in attributes(html, name) {
            assert!(known.contains(id), "{name}={id}");
        }
    }
}

/// That there is one title, and no heading more than a step below the one
/// before it.
#[track_caller]
fn assert_headings(html: &Html) {
    let headings = all(html, "h1, h2, h3, h4, h5, h6");
    let levels: Vec<u32> =
        headings.iter().map(|it| it.value().name()[1..].parse().unwrap()).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert_eq!(levels[0], 1);
    for pair in levels.windows(2) {
        assert!(pair[1] <= pair[0] + 1, "{levels:?}");
    }
    for header in all(html, "th") {
        assert!(header.attr("scope").is_some());
    }
}

/// A text as the page has it: what could hide, reorder or forge is an escape.
fn shown(text: &str) -> String {
    let escaped = text.replace('\r', "\\r").replace('\n', "\\n").replace('\u{7}', "\\x07");
    escaped.replace('\u{202e}', "\\u{202e}")
}

#[test]
fn pages_are_sound_whatever_they_show() {
    let sandbox = repository();
    let links = ["--links", "https://git.example.org/{path}#L{line}"];
    read(&page(&sandbox, &[]).0);
    read(&page(&sandbox, &links).0);
    read(&page(&sandbox, &["--since", "HEAD"]).0);
    let (with_links, _) =
        page(&sandbox, &[&["--since", "HEAD", "--all-findings"], &links[..]].concat());
    let html = read(&with_links);
    let hrefs = attributes(&html, "href");
    let stop = "https://git.example.org/site/prod/child.yaml#L12";
    assert!(hrefs.contains(&stop), "{hrefs:?}");
    read(&page(&Sandbox::with_sites(), &[]).0);
    let still = Sandbox::with_sites();
    still.commit();
    let nothing = read(&page(&still, &["--since", "HEAD"]).0);
    assert_eq!(text(all(&nothing, "h1")[0]), "no document differs");
    read(&page_of(&hostile_report()));
}

#[test]
fn everything_in_the_report_is_in_the_page() {
    let (page, report) = page(&repository(), &["--since", "HEAD", "--all-findings"]);
    let html = read(&page);
    let count = |selector: &str| all(&html, selector).len();
    let in_report = |key: &str| report[key].as_array().unwrap().len();
    let (edits, groups, routes) = (in_report("edits"), in_report("groups"), in_report("routes"));
    assert!(edits >= 4 && groups >= 4 && routes >= 4 && in_report("shields") >= 1, "{report:#}");
    for (key, letter) in [("edits", 'e'), ("groups", 'g'), ("routes", 'r')] {
        for number in 1..=in_report(key) {
            assert_eq!(count(&format!("#{letter}{number}")), 1, "{key} {number}");
        }
        assert_eq!(count(&format!("#{letter}{}", in_report(key) + 1)), 0);
    }
    let steps: usize = report["routes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["steps"].as_array().unwrap().len())
        .sum();
    assert_eq!(count(".route ol > li"), steps);
    let is_listed = |it: &&Json| it["suppressed"].is_null() && it["state"] != "fixed";
    let listed = report["findings"].as_array().unwrap().iter().filter(is_listed).count();
    assert!(listed >= 2);
    assert_eq!(count(".finding"), listed);
    let cell = |row: &ElementRef<'_>, at: usize| {
        let cells = Selector::parse("td").unwrap();
        row.select(&cells).nth(at).map_or(0, |it| text(it).parse::<usize>().unwrap())
    };
    let rows = all(&html, ".figures tbody tr");
    let changed: usize = rows.iter().map(|row| cell(row, 0)).sum();
    assert_eq!(changed, report["totals"]["changed"].as_u64().unwrap() as usize);
    assert_eq!(count(".stops li"), 1);
    let stop = text(all(&html, ".stops li")[0]);
    assert!(
        stop.starts_with("set again by child") && stop.trim_end().ends_with(", in prod"),
        "{stop}"
    );
}

#[test]
fn values_are_told_line_by_line() {
    let html = read(&page(&repository(), &["--since", "HEAD"]).0);
    let diffs: Vec<String> = all(&html, ".value .diff").into_iter().map(text).collect();
    assert!(diffs.contains(&"- 1\n+ 2\n".to_owned()), "{diffs:?}");
    assert!(diffs.contains(&"  one\n- two\n+ 2\n".to_owned()), "{diffs:?}");
    assert!(diffs.contains(&"- (hidden)\n+ (hidden)\n".to_owned()), "{diffs:?}");
}

#[test]
fn a_finding_leads_to_the_edit_behind_it() {
    let (page, report) = page(&repository(), &["--since", "HEAD"]);
    let html = read(&page);
    let findings = report["findings"].as_array().unwrap();
    let new = findings.iter().find(|it| it["state"] == "new").unwrap();
    assert_eq!(all(&html, ".finding").len(), 1);
    let finding = all(&html, ".finding")[0];
    assert_eq!(finding.attr("data-rule"), new["rule"].as_str());
    let edit = new["caused_by"][0].as_str().unwrap();
    let links = Selector::parse(&format!("a[href='#{edit}']")).unwrap();
    assert_eq!(finding.select(&links).count(), 1);
    let marked = Selector::parse("mark").unwrap();
    assert_eq!(finding.select(&marked).map(text).collect::<String>(), "source");
    assert_eq!(all(&html, "#rule-missing-source h3").len(), 2);
}

#[test]
fn hostile_texts_come_back_as_they_are() {
    let report = hostile_report();
    let html = read(&page_of(&report));
    let whole = text(html.root_element());
    let mut texts = 0;
    let mut assert_shown = |value: &Json| {
        let Some(value) = value.as_str() else { return };
        texts += 1;
        assert!(whole.contains(&shown(value)), "{value:?}");
    };
    for finding in report["findings"].as_array().unwrap() {
        if finding["state"] == "fixed" {
            continue;
        }
        let labels = finding["related"].as_array().unwrap().iter().chain([&finding["primary"]]);
        for label in labels {
            assert_shown(&label["label"]);
            assert_shown(&label["file"]);
        }
        let notes = finding["notes"].as_array().unwrap().iter();
        let sites = finding["sites"].as_array().unwrap().iter();
        let documents = finding["documents"].as_array().unwrap().iter().map(|it| &it["name"]);
        for value in notes.chain(sites).chain(documents) {
            assert_shown(value);
        }
        [&finding["rule"], &finding["message"], &finding["help"]]
            .into_iter()
            .for_each(&mut assert_shown);
    }
    for edit in report["edits"].as_array().unwrap() {
        let document = &edit["document"];
        [&edit["path"], &document["name"], &document["layer"]]
            .into_iter()
            .for_each(&mut assert_shown);
        for line in edit["before"]["text"].as_str().unwrap_or_default().split('\n') {
            assert!(whole.contains(&shown(line.strip_suffix('\r').unwrap_or(line))), "{line:?}");
        }
    }
    for step in
        report["routes"].as_array().unwrap().iter().flat_map(|it| it["steps"].as_array().unwrap())
    {
        [&step["via"], &step["document"]["name"], &step["file"]]
            .into_iter()
            .for_each(&mut assert_shown);
    }
    for shield in report["shields"].as_array().unwrap() {
        [&shield["site"], &shield["why"], &shield["by"]["file"]]
            .into_iter()
            .for_each(&mut assert_shown);
    }
    assert!(texts > 50, "{texts}");
    let scripts = [&page_of(&report), &page(&Sandbox::with_sites(), &[]).0].map(|page| {
        let html = Html::parse_document(page);
        text(all(&html, "script")[0])
    });
    assert_eq!(scripts[0], scripts[1], "no text is in the script");
}

#[test]
fn nothing_but_the_web_is_linked_to() {
    let mut report = hostile_report();
    for links in ["javascript:alert({line})", "data:text/html,{path}", "//x/{path}", "{sha}:{path}"]
    {
        report["links"] = links.into();
        let sandbox = Sandbox::outside_git();
        sandbox.write("report.json", report.to_string());
        let ran = sandbox.run(&["report", "report.json", "-o", "html"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{links}");
    }
}

#[test]
fn a_page_depends_on_nothing_but_the_report() {
    let sandbox = repository();
    let (live, report) = page(&sandbox, &["--since", "HEAD"]);
    assert_eq!(live, page(&sandbox, &["--since", "HEAD"]).0);
    assert!(!live.contains(sandbox.path("").to_str().unwrap()));
    sandbox.write("saved.json", report.to_string());
    assert_eq!(sandbox.run(&["report", "saved.json", "-o", "html"]).stdout, live);
    for canary in ["first-canary", "second-canary"] {
        assert!(!live.contains(canary));
    }
}

#[test]
fn values_that_look_alike_are_told_apart() {
    let sandbox = Sandbox::with_sites();
    let write = |data: &str| sandbox.write("global/value.yaml", document("value", "global", data));
    write("{number: 3, map: {a: [1, 'yes'], b: {c: 12345678901234567890123}}, gone: {x: }}");
    sandbox.commit();
    write("{number: '3', map: {a: [1, true], b: {c: 12345678901234567890124}}, come: ['- x', {}]}");
    let (page, _) = page(&sandbox, &["--since", "HEAD"]);
    let html = read(&page);
    let diffs: Vec<String> = all(&html, ".value .diff").into_iter().map(text).collect();
    assert!(diffs.contains(&"- 3\n+ \"3\"\n".to_owned()), "{diffs:?}");
    assert!(diffs.contains(&"- x: null\n".to_owned()), "{diffs:?}");
    assert!(diffs.contains(&"+ - \"- x\"\n+ - {}\n".to_owned()), "{diffs:?}");
    let digits = |it: &str| diffs.iter().any(|diff| diff.contains(it));
    assert!(digits("- 12345678901234567890123\n+ 12345678901234567890124\n"), "{diffs:?}");
}

#[test]
fn excerpts_mark_what_a_label_is_about() {
    let sandbox = Sandbox::with_sites();
    let pad = "x".repeat(2000);
    let broken = document("broken", "site", "{password: canary-1}")
        .replace("storagePolicy: cleartext", "storagePolicy: encrypted")
        .replace(
            "\ndata:",
            &format!(
                "\n  substitutions: [{{dest: {{path: .{pad}}}, src: {{schema: example/Any/v1, name: \
                 nowhere, path: .{pad}}}}}]\ndata:"
            ),
        );
    sandbox.write("site/lab/broken.yaml", broken);
    let (page, report) = page(&sandbox, &[]);
    assert!(!page.contains("canary"), "{report:#}");
    let html = read(&page);
    let finding = all(&html, ".finding[data-rule=missing-source]")[0];
    let within = |selector: &str| -> Vec<String> {
        finding.select(&Selector::parse(selector).unwrap()).map(text).collect()
    };
    assert_eq!(within("mark"), ["nowhere"]);
    assert_eq!(within(".excerpt .hidden"), ["(hidden)"]);
    let lines = within(".excerpt");
    let lines: Vec<&str> = lines[0].lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains(" …xxx") && lines[1].ends_with("xxx…"), "{}", lines[1]);
    assert!(lines[1].len() < 1000);
    assert!(lines[2].ends_with(" data: (hidden)"), "{}", lines[2]);
}

#[test]
fn a_comparison_without_findings_says_nothing_of_them() {
    let sandbox = repository();
    let ran = sandbox.run(&["diff", "HEAD", "-o", "html"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let html = read(&ran.stdout);
    assert_eq!(all(&html, "#findings, #rules").len(), 0);
    assert!(!text(html.root_element()).contains("Findings:"));
    assert_eq!(all(&html, ".edit").len(), 4);
}
