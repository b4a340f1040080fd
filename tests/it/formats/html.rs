//! The page is parsed here as a browser parses it, without its script. `.ci/page` tests the script
//! in a browser.

use std::collections::BTreeSet;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scraper::{ElementRef, Html, Selector};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::cli::{Sandbox, document};

/// Suffix of every string of a hostile report.
const HOSTILE: &str = "</style></title><!--<script>ran=1</script>\"><img src=x onerror='ran=1'>&amp;&#39; \
                       javascript:alert(1) %0A ``` \u{202e}gnp.\u{7}\t\r\n]]>";

/// Repository with a commit and edits since: one that reaches both sites by inheritance and is
/// shielded in one of them, one of a secret, one without effect, and one that causes a finding in
/// another file.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/parent.yaml",
        parent("replicas: 1\n    text: |\n      one\n      two\n"),
    );
    sandbox.write("site/lab/child.yaml", child("{}"));
    sandbox.write("site/prod/child.yaml", child("{values: {replicas: 7}}"));
    sandbox.write("global/secret.yaml", secret("first-canary"));
    sandbox.write(
        "global/source.yaml",
        document("source", "global", "{value: 1}"),
    );
    sandbox.write("site/lab/reader.yaml", reader());
    sandbox.break_site("prod");
    sandbox.commit();
    sandbox.write(
        "global/parent.yaml",
        parent("replicas: 2\n    text: |\n      one\n      2\n"),
    );
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

/// Page of a run, and the report that it shows.
fn page(sandbox: &Sandbox, arguments: &[&str]) -> (String, Json) {
    let [page, report] = ["page.html", "report.json"].map(|it| sandbox.beside(it));
    let [to_page, to_report] =
        [("html", &page), ("json", &report)].map(|(it, file)| format!("{it}={}", file.display()));
    let ran = sandbox.run(&[&["lint", "-o", &to_page, "-o", &to_report], arguments].concat());
    assert!(ran.code < 2, "{ran:?}");
    let report = fs::read_to_string(report).unwrap();
    (
        fs::read_to_string(page).unwrap(),
        serde_json::from_str(&report).unwrap(),
    )
}

/// Page of a saved report.
fn page_of(report: &Json) -> String {
    let sandbox = Sandbox::outside_git();
    sandbox.write("report.json", report.to_string());
    let ran = sandbox.run(&[
        "report",
        "report.json",
        "-o",
        "html",
        "--all-findings",
        "--show-ignored",
    ]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

/// Report in which every string is hostile, except the keywords of the format.
fn hostile(report: &Json) -> Json {
    /// Keys of keywords, names of parts, and addresses.
    const WORDS: [&str; 29] = [
        "because_of",
        "caused_by",
        "chosen_by",
        "commit",
        "edit",
        "fail_on",
        "fingerprint",
        "group",
        "id",
        "joint",
        "judges",
        "kind",
        "level",
        "links",
        "meaning",
        "outcome",
        "part",
        "pointer",
        "proof",
        "route",
        "rule",
        "safety",
        "severity",
        "state",
        "status",
        "tree",
        "version",
        "via",
        "why",
    ];
    match report {
        Json::String(text) => Json::String(format!("{text}{HOSTILE}")),
        Json::Array(items) => items.iter().map(hostile).collect(),
        Json::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let is_name = match &**key {
                    "text" => entries.contains_key("label"),
                    "sites" | "shielded" => value.is_string(),
                    "edits" | "changed_by" => {
                        value.is_string()
                            || value
                                .as_array()
                                .is_some_and(|it| it.iter().all(Json::is_string))
                    }
                    // The name of the tool, which is layercake.
                    "name" => entries.contains_key("version"),
                    key => WORDS.contains(&key),
                };
                let is_line = entries.contains_key("line") && key == "text";
                let other = match (is_name, value.as_str().filter(|_| is_line)) {
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
    report["schema"] = "urn:layercake:report:2".into();
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
    all(html, &format!("[{name}]"))
        .into_iter()
        .filter_map(|it| it.attr(name))
        .collect()
}

/// Parses the page like a browser and asserts that there are no errors.
#[track_caller]
fn read(page: &str) -> Html {
    let html = Html::parse_document(page);
    assert!(html.errors.is_empty(), "{:#?}", html.errors);
    assert_elements(&html);
    assert_links(&html);
    assert_headings(&html);
    html
}

/// Asserts that the page has no active or external content except what its policy allows.
#[track_caller]
fn assert_elements(html: &Html) {
    const RUNS_OR_FETCHES: &str = "img, iframe, object, embed, link, base, form, video, audio, svg, \
                                   math, template, portal, [src], [style], [srcdoc], [action], \
                                   [formaction], [background], [ping], [poster]";
    assert_eq!(all(html, RUNS_OR_FETCHES).len(), 0);
    assert_eq!(
        (all(html, "script").len(), all(html, "style").len()),
        (1, 1)
    );
    assert_eq!(all(html, "meta[http-equiv]").len(), 1);
    for element in all(html, "*") {
        let mut names = element.value().attrs().map(|(name, _)| name);
        assert!(
            !names.any(|name| name.starts_with("on")),
            "{:?}",
            element.value()
        );
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
    assert_eq!(known.len(), ids.len(), "duplicate id");
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

/// Asserts that there is one title, and that no heading skips a level.
#[track_caller]
fn assert_headings(html: &Html) {
    let headings = all(html, "h1, h2, h3, h4, h5, h6");
    let levels: Vec<u32> = headings
        .iter()
        .map(|it| it.value().name()[1..].parse().unwrap())
        .collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert_eq!(levels[0], 1);
    for pair in levels.windows(2) {
        assert!(pair[1] <= pair[0] + 1, "{levels:?}");
    }
    for header in all(html, "th") {
        assert!(header.attr("scope").is_some());
    }
}

/// Text as shown in the page: invisible and misleading characters are escaped; backticks in
/// messages are markup.
fn shown(text: &str) -> String {
    let escaped = text
        .replace('\r', "\\r")
        .replace('\n', "\\n")
        .replace('\u{7}', "\\x07");
    escaped.replace('\u{202e}', "\\u{202e}").replace('`', "")
}

/// Elements that match a selector in another element.
fn within<'a>(element: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    element
        .select(&Selector::parse(selector).unwrap())
        .collect()
}

/// Text of all elements that match a selector.
fn texts(html: &Html, selector: &str) -> Vec<String> {
    all(html, selector).into_iter().map(text).collect()
}

/// Text with each whitespace sequence replaced by a space.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn list<'a>(report: &'a Json, key: &str) -> &'a [Json] {
    report[key].as_array().unwrap()
}

#[test]
fn pages_are_valid_for_any_report() {
    let sandbox = repository();
    let links = ["--links", "https://git.example.org/{path}#L{line}"];
    read(&page(&sandbox, &[]).0);
    read(&page(&sandbox, &links).0);
    read(&page(&sandbox, &["--since", "HEAD"]).0);
    let (with_links, _) = page(
        &sandbox,
        &[&["--since", "HEAD", "--all-findings"], &links[..]].concat(),
    );
    let html = read(&with_links);
    let hrefs = attributes(&html, "href");
    let stop = "https://git.example.org/site/prod/child.yaml#L12";
    assert!(hrefs.contains(&stop), "{hrefs:?}");
    read(&page(&Sandbox::with_sites(), &[]).0);
    let unchanged = Sandbox::with_sites();
    unchanged.commit();
    let html = read(&page(&unchanged, &["--since", "HEAD"]).0);
    assert_eq!(texts(&html, "h1"), ["PASS no new findings"]);
    assert_eq!(all(&html, "main section").len(), 0);
    read(&page_of(&hostile_report()));
}

#[test]
fn verdict_and_compared_sides_come_first() {
    let (page, report) = page(&repository(), &["--since", "HEAD"]);
    let html = read(&page);
    let title = texts(&html, "h1");
    assert!(title[0].starts_with("FAIL 1 new error: "), "{title:?}");
    assert_eq!(texts(&html, "title"), [format!("layercake: {}", title[0])]);
    assert_eq!(all(&html, "h1 .verdict.error").len(), 1);
    let figures = texts(&html, ".figures li");
    assert!(
        figures[0].contains("outputs changed in all 2 sites"),
        "{figures:?}"
    );
    let sides: Vec<String> = texts(&html, ".sides div")
        .iter()
        .map(|it| on_one_line(it))
        .collect();
    let [repository, base, head, semantics] = &sides[..] else {
        panic!("{sides:?}")
    };
    assert!(repository.starts_with("repository") && repository.ends_with(", branch main"));
    assert!(head.starts_with("headworking tree"), "{head}");
    assert!(semantics.starts_with("semantics"));
    let date = report["comparison"]["base"]["date"].as_str().unwrap();
    assert_eq!(attributes(&html, "datetime"), [date]);
    assert!(base.contains(&date.replacen('T', " ", 1)), "{base}");
    let sections: Vec<_> = all(&html, "main > section")
        .iter()
        .filter_map(|it| it.attr("id"))
        .collect();
    assert_eq!(sections, ["sites", "errors", "edits", "rules"]);
    let links: Vec<_> = all(&html, "nav a")
        .iter()
        .filter_map(|it| it.attr("href"))
        .collect();
    assert_eq!(links, ["#sites", "#errors", "#edits", "#rules"]);
}

#[test]
fn page_has_everything_in_the_report() {
    let (page, report) = page(&repository(), &["--since", "HEAD", "--all-findings"]);
    let html = read(&page);
    let count = |selector: &str| all(&html, selector).len();
    let (edits, groups) = (list(&report, "edits").len(), list(&report, "groups").len());
    assert!(
        edits >= 4 && groups >= 4 && !list(&report, "shields").is_empty(),
        "{report:#}"
    );
    for (number, letter) in [(edits, 'e'), (groups, 'g')] {
        for number in 1..=number {
            assert_eq!(count(&format!("#{letter}{number}")), 1, "{letter}{number}");
        }
        assert_eq!(count(&format!("#{letter}{}", number + 1)), 0);
    }
    assert!(count(".route ol > li") >= 2);
    let findings = list(&report, "findings").iter().enumerate();
    let is_listed = |it: &Json| it["suppressed"].is_null() && it["state"] != "fixed";
    let listed: Vec<usize> = findings
        .filter(|(_, it)| is_listed(it))
        .map(|(at, _)| at + 1)
        .collect();
    assert!(listed.len() >= 2);
    assert_eq!(count(".finding"), listed.len());
    for number in listed {
        assert_eq!(count(&format!(".finding#f{number}")), 1);
    }
    let stops = texts(&html, ".stop");
    assert_eq!(stops.len(), 1);
    assert!(
        stops[0].starts_with("shielded: child (site) in prod, set again at"),
        "{stops:?}"
    );
}

#[test]
fn table_of_sites_has_the_worst_first() {
    let (page, report) = page(&repository(), &["--since", "HEAD"]);
    let html = read(&page);
    let rows = all(&html, ".sites tbody tr");
    let names: Vec<String> = rows
        .iter()
        .flat_map(|row| within(*row, "th a"))
        .map(text)
        .collect();
    assert_eq!(names, ["lab", "prod"]);
    let heads: Vec<_> = all(&html, ".sites td")
        .iter()
        .filter_map(|it| it.attr("data-head"))
        .collect();
    assert!(
        heads.contains(&"new errors") && heads.contains(&"changed"),
        "{heads:?}"
    );
    let changed = all(&html, ".sites td[data-head=changed]");
    let changed: usize = changed
        .into_iter()
        .map(|it| text(it).parse::<usize>().unwrap())
        .sum();
    let sites = list(&report, "sites")
        .iter()
        .filter_map(|it| it["changed"].as_u64());
    assert_eq!(changed as u64, sites.sum::<u64>());
    assert_eq!(all(&html, "#site-lab, #site-prod").len(), 2);
}

#[test]
fn parts_can_be_filtered_by_site_schema_and_kind() {
    let (page, report) = page(&repository(), &["--since", "HEAD", "--all-findings"]);
    let html = read(&page);
    let sites: Vec<_> = all(&html, "#site option")
        .iter()
        .map(|it| (it.attr("value"), text(*it)))
        .collect();
    assert_eq!(
        sites[1..],
        [
            (Some("0"), "lab".to_owned()),
            (Some("1"), "prod".to_owned())
        ]
    );
    for part in all(&html, ".entry, .group, .finding") {
        let [_, schemas, kinds] = ["data-site", "data-schema", "data-kind"]
            .map(|name| part.attr(name).unwrap().split('|').collect::<Vec<_>>());
        assert!(schemas.contains(&"example/Any/v1"), "{schemas:?}");
        assert_ne!(kinds, [""]);
    }
    let shielded = text(all(&html, ".entry[data-kind~='changed|shielded']")[0]);
    assert!(shielded.contains("parent"), "{shielded}");
    let inert = list(&report, "edits")
        .iter()
        .find(|it| it["reach"]["outputs"] == 0);
    assert!(
        inert.is_none_or(|it| !all(&html, &format!("#{}", it["id"].as_str().unwrap())).is_empty())
    );
}

#[test]
fn values_are_shown_line_by_line() {
    let html = read(&page(&repository(), &["--since", "HEAD"]).0);
    let diffs = texts(&html, ".change pre");
    assert!(diffs.contains(&"- 1\n+ 2\n".to_owned()), "{diffs:?}");
    assert!(
        diffs.contains(&"  one\n- two\n+ 2\n".to_owned()),
        "{diffs:?}"
    );
    assert!(
        diffs.contains(&"- (hidden)\n+ (hidden)\n".to_owned()),
        "{diffs:?}"
    );
}

#[test]
fn scalars_of_outputs_share_a_line_and_long_ones_are_marked_where_they_differ() {
    let sandbox = Sandbox::with_sites();
    let write = |tag: &str| {
        sandbox.write(
            "global/value.yaml",
            document("value", "global", &format!("{{tag: '{tag}'}}")),
        );
    };
    let substitutions = "  substitutions:\n    - src: {schema: example/Any/v1, name: value, path: \
                         .tag}\n      dest: [{path: .short, pattern: TAG}, {path: .long, pattern: \
                         TAG}]\n";
    let data = format!(
        "{{short: v-TAG, long: 'registry.example.org/{}:TAG'}}",
        "x".repeat(60)
    );
    let reader = document("reader", "global", &data);
    sandbox.write(
        "global/r.yaml",
        reader.replace("\ndata:", &format!("\n{substitutions}data:")),
    );
    write("1");
    sandbox.commit();
    write("2");
    let html = read(&page(&sandbox, &["--since", "HEAD"]).0);
    let scalars: Vec<String> = texts(&html, ".group .scalar")
        .iter()
        .map(|it| on_one_line(it))
        .collect();
    assert!(
        scalars.iter().any(|it| it.starts_with(".short: v-1 → v-2")),
        "{scalars:?}"
    );
    assert_eq!(texts(&html, ".group pre del b"), ["1"]);
    assert_eq!(texts(&html, ".group pre ins b"), ["2"]);
}

#[test]
fn long_values_are_folded_and_longer_ones_truncated() {
    let sandbox = Sandbox::with_sites();
    let write = |data: &str| sandbox.write("global/value.yaml", document("value", "global", data));
    let shown = |lines: usize| {
        let lines: Vec<String> = (0..lines).map(|at| format!("line-{at}")).collect();
        write(&format!("{{number: {}}}", lines.len()));
        sandbox.commit();
        write(&format!(
            "{{number: {}, list: [{}]}}",
            lines.len(),
            lines.join(", ")
        ));
        let html = read(&page(&sandbox, &["--since", "HEAD"]).0);
        let unfolded = texts(&html, ".change > pre").concat();
        (
            unfolded.lines().count(),
            texts(&html, ".change .rest pre").concat(),
        )
    };
    assert_eq!(shown(30), (30, String::new()));
    let (unfolded, folded) = shown(100);
    assert_eq!((unfolded, folded.lines().count()), (40, 60));
    assert_eq!(folded.lines().next_back(), Some("+ - line-99"));
    let (unfolded, folded) = shown(4000);
    assert_eq!(unfolded, 40);
    assert!(folded.len() < 64 << 10);
    assert!(
        folded.ends_with(" more lines\n"),
        "{:?}",
        folded.lines().next_back()
    );
}

#[test]
fn finding_links_to_the_edit_that_caused_it() {
    let (page, report) = page(&repository(), &["--since", "HEAD"]);
    let html = read(&page);
    let new = list(&report, "findings")
        .iter()
        .find(|it| it["state"] == "new")
        .unwrap();
    let [finding] = all(&html, "#errors .finding")[..] else {
        panic!()
    };
    let rules: Vec<String> = within(finding, ".rule").into_iter().map(text).collect();
    assert_eq!(rules, [new["rule"].as_str().unwrap()]);
    let edit = new["caused_by"][0].as_str().unwrap();
    assert_eq!(within(finding, &format!("a[href='#{edit}']")).len(), 1);
    assert_eq!(
        within(finding, "mark")
            .into_iter()
            .map(text)
            .collect::<String>(),
        "source"
    );
    let headings: Vec<String> = all(&html, "#rule-missing-source h3")
        .into_iter()
        .map(text)
        .collect();
    assert_eq!(
        headings,
        ["What it does", "Why is this bad?", "Bad", "Good"]
    );
}

#[test]
fn hostile_strings_are_shown_verbatim() {
    let report = hostile_report();
    let html = read(&page_of(&report));
    let whole = text(html.root_element()).replace('`', "");
    let mut texts = 0;
    let mut assert_shown = |value: &Json| {
        let Some(value) = value.as_str() else { return };
        texts += 1;
        assert!(whole.contains(&shown(value)), "{value:?}");
    };
    for finding in list(&report, "findings")
        .iter()
        .filter(|it| it["state"] != "fixed")
    {
        for label in list(finding, "related").iter().chain([&finding["primary"]]) {
            assert_shown(&label["label"]);
            assert_shown(&label["file"]);
        }
        list(finding, "notes").iter().for_each(&mut assert_shown);
        for document in list(finding, "documents") {
            assert_shown(&document["name"]);
        }
        for value in [&finding["rule"], &finding["message"], &finding["help"]] {
            assert_shown(value);
        }
    }
    for edit in list(&report, "edits") {
        let document = &edit["document"];
        for value in [&edit["path"], &document["name"], &document["layer"]] {
            assert_shown(value);
        }
        for line in edit["before"]["text"].as_str().unwrap_or_default().lines() {
            assert!(whole.contains(&shown(line)), "{line:?}");
        }
    }
    for part in list(&report, "sites").iter().chain(list(&report, "groups")) {
        assert_shown(&part["name"]);
    }
    for shield in list(&report, "shields") {
        assert_shown(&shield["by"][0]["file"]);
    }
    for key in ["name", "branch"] {
        assert_shown(&report["repository"][key]);
    }
    assert_shown(
        &report["comparison"]["base"]["date"]
            .as_str()
            .unwrap()
            .replacen('T', " ", 1)
            .into(),
    );
    assert!(texts > 30, "{texts}");
    let scripts = [&page_of(&report), &page(&Sandbox::with_sites(), &[]).0].map(|page| {
        let html = Html::parse_document(page);
        text(all(&html, "script")[0])
    });
    assert_eq!(
        scripts[0], scripts[1],
        "the script has no text of the report"
    );
}

#[test]
fn links_use_only_web_addresses() {
    let mut report = hostile_report();
    for links in [
        "javascript:alert({line})",
        "data:text/html,{path}",
        "//x/{path}",
        "{sha}:{path}",
    ] {
        report["links"] = links.into();
        let sandbox = Sandbox::outside_git();
        sandbox.write("report.json", report.to_string());
        let ran = sandbox.run(&["report", "report.json", "-o", "html"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{links}");
    }
}

#[test]
fn page_depends_only_on_the_report() {
    let sandbox = repository();
    let (of_run, report) = page(&sandbox, &["--since", "HEAD"]);
    assert_eq!(of_run, page(&sandbox, &["--since", "HEAD"]).0);
    assert!(!of_run.contains(sandbox.path("").to_str().unwrap()));
    sandbox.write("saved.json", report.to_string());
    assert_eq!(
        sandbox.run(&["report", "saved.json", "-o", "html"]).stdout,
        of_run
    );
    for canary in ["first-canary", "second-canary"] {
        assert!(!of_run.contains(canary));
    }
}

#[test]
fn similar_values_are_distinguished() {
    let sandbox = Sandbox::with_sites();
    let write = |data: &str| sandbox.write("global/value.yaml", document("value", "global", data));
    write("{number: 3, map: {a: [1, 'yes'], b: {c: 12345678901234567890123}}, gone: {x: }}");
    sandbox.commit();
    write("{number: '3', map: {a: [1, true], b: {c: 12345678901234567890124}}, come: ['- x', {}]}");
    let (page, _) = page(&sandbox, &["--since", "HEAD"]);
    let html = read(&page);
    let diffs = texts(&html, ".diff").concat();
    for value in [
        "3 → \"3\"",
        "- x: null\n",
        "+ - \"- x\"\n+ - {}\n",
        "12345678901234567890123 → 12345678901234567890124",
    ] {
        assert!(diffs.contains(value), "{value}: {diffs}");
    }
}

#[test]
fn excerpts_highlight_the_text_of_labels() {
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
    let findings = all(&html, ".finding");
    let is_of = |finding: &&ElementRef<'_>| {
        within(**finding, ".rule")
            .into_iter()
            .map(text)
            .eq(["missing-source"])
    };
    let finding = **findings
        .iter()
        .filter(is_of)
        .collect::<Vec<_>>()
        .first()
        .unwrap();
    let in_finding = |selector: &str| {
        within(finding, selector)
            .into_iter()
            .map(text)
            .collect::<Vec<String>>()
    };
    assert_eq!(in_finding("mark"), ["nowhere"]);
    assert_eq!(in_finding(".excerpt .hidden"), ["(hidden)"]);
    let lines = in_finding(".excerpt");
    let lines: Vec<&str> = lines[0].lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[1].contains(" …xxx") && lines[1].ends_with("xxx…"),
        "{}",
        lines[1]
    );
    assert!(lines[1].len() < 1000);
    assert!(lines[2].ends_with(" data: (hidden)"), "{}", lines[2]);
}

#[test]
fn comparison_without_findings_has_no_findings_section() {
    let sandbox = repository();
    let ran = sandbox.run(&["diff", "HEAD", "-o", "html"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let html = read(&ran.stdout);
    assert_eq!(all(&html, "#errors, #findings, #rules").len(), 0);
    for part in all(&html, "header, main, footer") {
        assert!(!text(part).contains("finding"), "{}", text(part));
    }
    assert!(texts(&html, "h1")[0].contains("outputs changed in all 2 sites"));
    assert_eq!(all(&html, "article.entry").len(), 4);
}

#[test]
fn huge_reports_are_truncated_with_a_notice() {
    const MAX_BYTES: usize = 6 << 20;
    let (_, mut report) = page(&repository(), &["--since", "HEAD", "--all-findings"]);
    report["findings"] = vec![report["findings"][0].clone(); 20_000].into();
    let mut edits = list(&report, "edits").to_vec();
    let first = edits.len();
    edits.extend((first..20_000).map(|at| {
        let mut edit = report["edits"][0].clone();
        edit["id"] = format!("e{}", at + 1).into();
        edit["reach"]["outputs"] = 0.into();
        edit["reach"].as_object_mut().unwrap().remove("shielded");
        edit
    }));
    report["edits"] = edits.into();
    report["findings"][0]["caused_by"] = serde_json::json!(["e20000"]);
    let page = page_of(&report);
    assert!(page.len() < MAX_BYTES, "{}", page.len());
    let html = read(&page);
    let cut: Vec<String> = texts(&html, ".more");
    for what in [
        " more findings: see the JSON report",
        " more edits: see the JSON report",
    ] {
        assert!(cut.iter().any(|it| it.contains(what)), "{cut:?}");
    }
    let first = all(&html, ".finding")[0];
    assert!(
        text(first).contains("edit 20000"),
        "the cause is named, without a link"
    );
}

#[test]
fn changes_that_no_edit_explains_are_shown_with_their_values() {
    let (_, mut report) = page(&repository(), &["--since", "HEAD", "--all-findings"]);
    let output = &mut report["outputs"][0];
    output["unexplained"] = true.into();
    output["causes"] = Json::Array(Vec::new());
    let html = read(&page_of(&report));
    let unexplained = text(all(&html, "#unexplained .alarm")[0]);
    assert!(
        unexplained.contains("This is a bug in layercake"),
        "{unexplained}"
    );
    assert_eq!(all(&html, "#unexplained .alarm .diff").len(), 1);
}
