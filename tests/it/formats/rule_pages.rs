//! Links from rule names to their published pages.

use layercake::report::{ReportFormat, RulePages};
use layercake::rules::RULES;
use scraper::{Html, Selector};
use serde_json::Value as Json;

use super::made;
use crate::cli::Sandbox;

const BASE: &str = "https://docs.example.org/layercake";

/// URL of the page of the rule that [`configured`] reports.
const PAGE: &str = "https://docs.example.org/layercake/rules/missing-source.html";

/// Repository with a finding and, unless it is `None`, this `output.docs-url`.
fn configured(url: Option<&str>) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.break_site("lab");
    if let Some(url) = url {
        sandbox.write(
            "layercake.yaml",
            format!("output: {{docs-url: \"{url}\"}}\n"),
        );
    }
    sandbox
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let ran = sandbox.run(arguments);
    assert!(ran.code < 2, "{ran:?}");
    ran.stdout
}

/// `helpUri` of the rule that [`configured`] reports in a SARIF log; null if there is none.
fn help_uri(log: &str) -> Json {
    let log: Json = serde_json::from_str(log).unwrap();
    super::sarif::assert_sound(&log);
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let rule = rules
        .iter()
        .find(|rule| rule["id"] == "missing-source")
        .unwrap();
    rule["helpUri"].clone()
}

fn configured_help_uri(url: Option<&str>) -> Json {
    help_uri(&run(&configured(url), &["lint", "-o", "sarif"]))
}

/// `helpUri` without a configuration.
fn default_help_uri() -> Json {
    let base = option_env!("LAYERCAKE_DOCS_URL").filter(|base| !base.is_empty());
    base.map_or(Json::Null, |base| {
        format!("{base}/rules/missing-source.html").into()
    })
}

#[test]
fn sarif_has_the_url_of_a_rule_only_with_a_base() {
    assert_eq!(configured_help_uri(Some(BASE)), PAGE);
    assert_eq!(configured_help_uri(Some(&format!("{BASE}/"))), PAGE);
    assert_eq!(configured_help_uri(Some("")), Json::Null);
    assert_eq!(configured_help_uri(None), default_help_uri());
}

#[test]
fn html_links_the_rule_of_a_finding_to_its_page() {
    let links = |url: &str| -> Vec<String> {
        let page = Html::parse_document(&run(&configured(Some(url)), &["lint", "-o", "html"]));
        let names = Selector::parse("article summary .rule a").unwrap();
        page.select(&names)
            .map(|it| it.attr("href").unwrap().to_owned())
            .collect()
    };
    assert_eq!(links(BASE), [PAGE]);
    let hostile = "https://docs.example.org/'onclick='x&quot;";
    assert_eq!(
        links(hostile),
        [format!("{hostile}/rules/missing-source.html")]
    );
    assert!(links("").is_empty());
}

#[test]
fn markdown_links_the_rule_of_a_finding_to_its_page() {
    let linked = format!("([`missing-source`]({PAGE}))");
    for format in ["markdown", "comment"] {
        let page = run(&configured(Some(BASE)), &["lint", "-o", format]);
        assert!(page.contains(&linked), "{page}");
        let page = run(&configured(Some("")), &["lint", "-o", format]);
        assert!(
            page.contains("(`missing-source`)") && !page.contains("https://"),
            "{page}"
        );
    }
}

#[test]
fn text_that_is_not_for_a_terminal_has_no_links() {
    for format in ["full", "concise", "github", "json"] {
        for color in ["never", "always"] {
            let sandbox = configured(Some(BASE));
            let text = run(&sandbox, &["lint", "-o", format, "--color", color]);
            assert!(!text.contains("https://docs.example.org"), "{text}");
        }
    }
}

/// Anyone may have written a saved report, so it cannot choose where rule names link to.
#[test]
fn saved_report_has_no_base() {
    let sandbox = configured(Some(BASE));
    let report = run(&sandbox, &["lint", "-o", "json"]);
    sandbox.write("report.json", &report);
    assert_eq!(
        help_uri(&run(&sandbox, &["report", "report.json", "-o", "sarif"])),
        default_help_uri()
    );
    let mut forged: Json = serde_json::from_str(&report).unwrap();
    for base in [BASE.into(), serde_json::json!({"base": BASE, "rules": []})] {
        forged["rule_pages"] = base;
        sandbox.write("report.json", forged.to_string());
        let ran = sandbox.run(&["report", "report.json", "-o", "sarif"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    }
}

/// A rule that this version does not have has no page.
#[test]
fn unknown_rule_has_no_link() {
    let findings = ["missing-source", "of-a-later-version"]
        .map(|rule| made::finding(rule, "error", "wrong", "site/lab/a.yaml", 1));
    let report = made::report(&findings, &[]).with_rule_pages(RulePages::new(BASE, RULES).ok());
    for form in [
        ReportFormat::Html,
        ReportFormat::Markdown,
        ReportFormat::Sarif,
    ] {
        let text = made::written(form, &report, made::USUAL);
        assert!(
            text.contains(PAGE) && !text.contains("of-a-later-version.html"),
            "{text}"
        );
    }
}

#[test]
fn base_side_configuration_overrides_that_of_the_change() {
    let sandbox = configured(Some(BASE));
    sandbox.commit();
    sandbox.write(
        "layercake.yaml",
        "output: {docs-url: 'https://other.example.org'}\n",
    );
    let of = |more: &[&str]| {
        let lint = ["lint", "--since", "HEAD", "--all-findings"];
        help_uri(&run(
            &sandbox,
            &[&lint[..], more, &["-o", "sarif"]].concat(),
        ))
    };
    assert_eq!(
        of(&[]),
        "https://other.example.org/rules/missing-source.html"
    );
    assert_eq!(of(&["--config-from-base"]), PAGE);
}
