//! Filter controls, and the data attributes that `page.js` matches against them.

use std::collections::{BTreeMap, BTreeSet};

use super::HtmlPage;
use super::escape::text;
use crate::report::model::{EditRef, ReportedEdit};
use crate::report::story::{FindingEntry, OutputBlock, Story, runs};

/// Properties of edits for filtering.
pub(super) struct EditTraits<'r> {
    of_edit: BTreeMap<EditRef, Traits<'r>>,
}

/// Filter attributes of an element.
#[derive(Default)]
struct Traits<'r> {
    sites: BTreeSet<usize>,
    schemas: BTreeSet<&'r str>,
    kinds: BTreeSet<&'static str>,
}

impl<'r> EditTraits<'r> {
    pub(super) fn new(story: &Story<'r>) -> Self {
        let report = story.report;
        let sites = &story.site_names;
        let mut of_edit: BTreeMap<EditRef, Traits<'r>> = BTreeMap::new();
        for edit in &report.edits {
            let traits = of_edit.entry(edit.id).or_default();
            traits.sites.extend(sites.in_set(edit.reach.sites));
            traits.schemas.insert(&*edit.document.schema);
        }
        for output in &report.outputs {
            for edit in report.edits_of(output) {
                let traits = of_edit.entry(*edit).or_default();
                traits.schemas.insert(&*output.document.schema);
                traits.kinds.insert(output.status.as_str());
            }
        }
        for shield in &report.shields {
            let traits = of_edit.entry(shield.edit).or_default();
            traits.sites.extend(sites.in_set(shield.sites));
            traits.kinds.insert("shielded");
        }
        Self { of_edit }
    }

    pub(super) fn of_edits(&self, edits: &[&ReportedEdit]) -> String {
        let mut all = Traits::default();
        for traits in edits.iter().filter_map(|edit| self.of_edit.get(&edit.id)) {
            all.sites.extend(&traits.sites);
            all.schemas.extend(&traits.schemas);
            all.kinds.extend(&traits.kinds);
        }
        all.attributes()
    }
}

pub(super) fn of_block(block: &OutputBlock<'_>) -> String {
    let traits = Traits {
        sites: block.sites.clone(),
        schemas: block.groups.iter().map(|group| &*group.schema).collect(),
        kinds: BTreeSet::from([block.status.as_str()]),
    };
    traits.attributes()
}

pub(super) fn of_finding(entry: &FindingEntry<'_>, story: &Story<'_>) -> String {
    let finding = entry.finding;
    let traits = Traits {
        sites: finding
            .sites
            .map(|set| story.site_names.in_set(set))
            .unwrap_or_default(),
        schemas: finding
            .documents
            .iter()
            .map(|document| &*document.schema)
            .collect(),
        kinds: BTreeSet::from([finding.severity.as_str()]),
    };
    traits.attributes()
}

/// Returns the attribute of an element about these sites, as index ranges, since a page can refer
/// to each of them thousands of times.
pub(super) fn of_sites(sites: &BTreeSet<usize>) -> String {
    let ranges: Vec<String> = runs(sites.iter().copied())
        .iter()
        .map(|(start, end)| format!("{start}-{end}"))
        .collect();
    format!(" data-site=\"{}\"", ranges.join(" "))
}

impl Traits<'_> {
    /// Returns the attributes as HTML.
    fn attributes(&self) -> String {
        let [schemas, kinds] = [self.schemas.iter(), self.kinds.iter()]
            .map(|words| words.copied().collect::<Vec<_>>().join("|"));
        let sites = of_sites(&self.sites);
        format!(
            "{sites} data-schema=\"{}\" data-kind=\"{kinds}\"",
            text(&schemas)
        )
    }
}

impl HtmlPage<'_, '_> {
    /// Renders the filter controls, which stay hidden until the script adds the remaining options.
    pub(super) fn tools(&self) -> String {
        let sites = self
            .story
            .report
            .sites
            .iter()
            .enumerate()
            .filter_map(|(at, site)| Some((at, site.name.as_deref()?)))
            .map(|(at, name)| format!("<option value=\"{at}\">{}</option>\n", text(name)));
        let select = |name: &str, all: &str, options: &str| {
            format!(
                "<select id=\"{name}\" aria-label=\"{name}\">\n<option value=\"\">{all}</option>\n\
                 {options}</select>\n"
            )
        };
        let site = select("site", "all sites", &sites.collect::<String>());
        let schema = select("schema", "all schemas", "");
        let kind = select("kind", "all kinds", "");
        format!(
            "<div id=\"tools\" role=\"search\" hidden>\n<input id=\"search\" type=\"search\" \
             placeholder=\"Search\" aria-label=\"Search\" autocomplete=\"off\" \
             spellcheck=\"false\" aria-describedby=\"shown\" aria-keyshortcuts=\"/\">\n{site}\
             {schema}{kind}<button id=\"fold\" type=\"button\" aria-pressed=\"false\">Unfold \
             all</button>\n<p id=\"shown\" role=\"status\"></p>\n</div>\n"
        )
    }
}
