//! Generator of a site repository of any size, in the shape of `airship/treasuremap`.
//!
//! The shape consists of numbers: how many charts, certificates, passphrases and catalogues each
//! layer of treasuremap has, in how many files, how many keys and substitutions they have, which of
//! them replace others, and which sources they read. It contains no text of treasuremap; names and
//! values are counted or come from [`Words`]. The same scale always produces the same bytes.
//!
//! At scale N, every layer has N copies of its documents under different names; the six sites and
//! the layering policy are not copied. A copy refers only to itself, but all copies share a label
//! and belong to the same sites.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Amount of data written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub files: usize,
    pub documents: usize,
    pub bytes: usize,
}

/// Contents of a folder of `type/` or `site/`, in each copy.
struct Layer {
    folder: &'static str,
    /// Type of a site.
    site_type: &'static str,
    /// Passphrases, one per file.
    passphrases: usize,
    /// Certificates, each with a key.
    certificates: usize,
    /// Authorities, each with a key.
    authorities: usize,
    /// Whether all of the above are in one file instead of one file each.
    is_bundled: bool,
    /// Charts whose parent is the global chart with the same number.
    charts: usize,
    /// Number of charts that replace the parent.
    replacements: usize,
    /// Number of charts with an abstract parent, and of their substitutions into lists.
    site_charts: usize,
    list_writes: usize,
    /// Chart groups whose parents are global groups; every other one replaces its parent.
    groups: usize,
    /// Endpoints per catalogue; three catalogues share a file.
    endpoints: usize,
    /// Whether a domain is substituted into each endpoint.
    puts_domain: bool,
    accounts: bool,
    /// Hosts of the addresses, and comment lines about them.
    addresses: (usize, usize),
    /// Certificates declared as generated at deploy time.
    declared: usize,
    /// Entries of a replacement of the versions.
    versions: usize,
    /// Profiles, networks and the like, and keys of each; several per file.
    others: (usize, usize),
    files_of_others: usize,
}

const NONE: Layer = Layer {
    folder: "",
    site_type: "",
    passphrases: 0,
    certificates: 0,
    authorities: 0,
    is_bundled: false,
    charts: 0,
    replacements: 0,
    site_charts: 0,
    list_writes: 0,
    groups: 0,
    endpoints: 0,
    puts_domain: false,
    accounts: false,
    addresses: (0, 0),
    declared: 0,
    versions: 0,
    others: (0, 0),
    files_of_others: 0,
};

const LAYERS: [Layer; 9] = [
    Layer {
        folder: "type/foundry",
        charts: 2,
        others: (2, 20),
        files_of_others: 2,
        ..NONE
    },
    Layer {
        folder: "type/skiff",
        passphrases: 69,
        certificates: 36,
        authorities: 6,
        is_bundled: true,
        charts: 17,
        replacements: 15,
        groups: 3,
        endpoints: 48,
        accounts: true,
        addresses: (9, 60),
        others: (1, 6),
        files_of_others: 1,
        ..NONE
    },
    Layer {
        folder: "type/sloop",
        charts: 37,
        replacements: 25,
        groups: 2,
        endpoints: 48,
        accounts: true,
        others: (1, 20),
        files_of_others: 1,
        ..NONE
    },
    Layer {
        folder: "site/aiab",
        site_type: "sloop",
        passphrases: 90,
        charts: 8,
        replacements: 3,
        groups: 6,
        addresses: (8, 8),
        declared: 30,
        others: (2, 20),
        files_of_others: 2,
        ..NONE
    },
    Layer {
        folder: "site/airskiff",
        site_type: "skiff",
        versions: 2,
        others: (2, 3),
        files_of_others: 2,
        ..NONE
    },
    Layer {
        folder: "site/airskiff-suse",
        site_type: "skiff",
        charts: 4,
        groups: 3,
        versions: 18,
        others: (2, 30),
        files_of_others: 2,
        ..NONE
    },
    Layer {
        folder: "site/airsloop",
        site_type: "sloop",
        passphrases: 91,
        certificates: 29,
        authorities: 5,
        charts: 3,
        replacements: 1,
        site_charts: 1,
        list_writes: 35,
        groups: 2,
        addresses: (9, 60),
        declared: 37,
        others: (18, 16),
        files_of_others: 9,
        ..NONE
    },
    Layer {
        folder: "site/seaworthy",
        site_type: "foundry",
        passphrases: 91,
        certificates: 36,
        authorities: 5,
        charts: 15,
        replacements: 1,
        site_charts: 1,
        list_writes: 45,
        groups: 4,
        endpoints: 50,
        puts_domain: true,
        accounts: true,
        addresses: (9, 60),
        declared: 43,
        others: (22, 24),
        files_of_others: 6,
        ..NONE
    },
    Layer {
        folder: "site/seaworthy-virt",
        site_type: "foundry",
        passphrases: 77,
        certificates: 36,
        authorities: 5,
        charts: 12,
        replacements: 3,
        site_charts: 1,
        list_writes: 45,
        groups: 6,
        endpoints: 48,
        accounts: true,
        addresses: (8, 25),
        declared: 43,
        others: (19, 20),
        files_of_others: 10,
        ..NONE
    },
];

/// Number of global charts, of their files, and of abstract ones.
const CHARTS: usize = 96;
const CHART_FILES: usize = 82;
const ABSTRACT_CHARTS: usize = 18;
/// Substitutions per chart: many in a few charts, a few in most.
const SUBSTITUTIONS: [usize; 24] = [
    1, 8, 3, 16, 1, 7, 5, 9, 2, 28, 6, 1, 8, 4, 11, 7, 3, 17, 1, 9, 6, 26, 2, 7,
];
const SCHEMAS: usize = 30;
const GROUPS: usize = 44;
/// Passphrases that charts read; every site has at least as many.
const PASSPHRASES_READ: usize = 68;
/// Certificates that charts read.
const CERTIFICATES_READ: usize = 29;
const ACCOUNTS: usize = 20;

/// Writes the repository of `scale` into the empty folder `folder`.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, scale: usize) -> io::Result<Size> {
    let mut out = Output::new(folder);
    let order = "  layerOrder:\n  - global\n  - type\n  - site\n";
    let policy = Head {
        control: true,
        ..Head::new("deckhand/LayeringPolicy/v1", "layers", "")
    };
    out.write("global/layering-policy.yaml", &[policy.document(order)])?;
    for layer in LAYERS.iter().filter(|layer| !layer.site_type.is_empty()) {
        let name = &layer.folder["site/".len()..];
        let head = Head::new("pegleg/SiteDefinition/v1", name, "site");
        let data = format!("  site_type: {}\n", layer.site_type);
        out.write(
            &format!("{}/site-definition.yaml", layer.folder),
            &[head.document(&data)],
        )?;
    }
    for copy in 0..scale {
        Copy {
            number: copy,
            words: Words::new(copy),
        }
        .write(&mut out)?;
    }
    Ok(out.size)
}

/// Destination of the files.
pub struct Output<'a> {
    pub folder: &'a Path,
    /// Amount written so far.
    pub size: Size,
}

impl<'a> Output<'a> {
    pub fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            size: Size::default(),
        }
    }

    pub fn write(&mut self, path: &str, documents: &[String]) -> io::Result<()> {
        let text = documents.concat();
        let file = self.folder.join(path);
        fs::create_dir_all(file.parent().expect("every file is in a folder"))?;
        fs::write(file, &text)?;
        self.size.files += 1;
        self.size.documents += documents.len();
        self.size.bytes += text.len();
        Ok(())
    }

    /// Distributes `documents` over `files` files.
    fn spread(&mut self, path: &str, files: usize, documents: &[String]) -> io::Result<()> {
        let mut rest = documents;
        for file in 0..files {
            let (now, later) = rest.split_at(rest.len() / (files - file));
            self.write(&format!("{path}-{file}.yaml"), now)?;
            rest = later;
        }
        Ok(())
    }
}

/// Envelope of a document.
#[derive(Clone, Default)]
struct Head {
    schema: String,
    name: String,
    layer: &'static str,
    control: bool,
    encrypted: bool,
    is_abstract: bool,
    is_labelled: bool,
    /// Whether the document, or its parent, has the label common to such documents.
    is_component: bool,
    /// Label that selects the parent.
    parent: Option<String>,
    /// Paths of the actions; the first merges everything.
    actions: Vec<String>,
    replaces: bool,
    substitutions: String,
    comment: usize,
}

impl Head {
    fn new(schema: &str, name: &str, layer: &'static str) -> Self {
        Self {
            schema: schema.into(),
            name: name.into(),
            layer,
            ..Self::default()
        }
    }

    /// Formats the document; `data` is the text below the key, or after it.
    fn document(&self, data: &str) -> String {
        let kind = if self.control { "Control" } else { "Document" };
        let mut text = format!("---\nschema: {}\n", self.schema);
        comments(&mut text, self.comment);
        let _ = write!(
            text,
            "metadata:\n  schema: metadata/{kind}/v1\n  name: {}\n",
            self.name
        );
        if !self.control {
            self.metadata(&mut text);
        }
        if data.starts_with(' ') && !data.starts_with(" |") {
            let _ = write!(text, "data:\n{data}...\n");
        } else {
            let _ = writeln!(text, "data:{data}...");
        }
        text
    }

    fn metadata(&self, text: &mut String) {
        if self.replaces {
            text.push_str("  replacement: true\n");
        }
        if self.is_labelled {
            let _ = write!(text, "  labels:\n    name: {}\n", self.name);
            if self.is_component {
                text.push_str("    component: made\n");
            }
        }
        let _ = write!(
            text,
            "  layeringDefinition:\n    abstract: {}\n    layer: {}\n",
            self.is_abstract, self.layer
        );
        if let Some(parent) = &self.parent {
            let _ = write!(text, "    parentSelector:\n      name: {parent}\n");
            if self.is_component {
                text.push_str("      component: made\n");
            }
            text.push_str("    actions:\n");
            for path in &self.actions {
                let method = if path == "." { "merge" } else { "replace" };
                let _ = write!(text, "      - method: {method}\n        path: {path}\n");
            }
        }
        let policy = if self.encrypted {
            "encrypted"
        } else {
            "cleartext"
        };
        let _ = writeln!(text, "  storagePolicy: {policy}");
        if !self.substitutions.is_empty() {
            let _ = write!(text, "  substitutions:\n{}", self.substitutions);
        }
    }

    /// Adds a substitution; `extra` are further lines of its source.
    fn substitute(&mut self, from: (&str, &str, &str), extra: &str, to: &str) {
        let (schema, name, path) = from;
        let _ = write!(
            self.substitutions,
            "    - src:\n        schema: {schema}\n        name: {name}\n        path: {path}\n\
             {extra}      dest:\n        path: {to}\n"
        );
    }

    /// Adds a pattern to the destination of the last substitution.
    fn by_pattern(&mut self, pattern: &str) {
        let _ = writeln!(self.substitutions, "        pattern: {pattern}");
    }
}

fn comments(text: &mut String, lines: usize) {
    for line in 0..lines {
        let _ = writeln!(
            text,
            "# Line {line} of what a person might want to know about this."
        );
    }
}

/// Kinds of documents with a schema.
const KINDS: [&str; 12] = [
    "armada/Chart/v1",
    "armada/ChartGroup/v1",
    "armada/Manifest/v1",
    "made/Profile/v1",
    "made/SystemProfile/v1",
    "pegleg/AccountCatalogue/v1",
    "pegleg/CommonAddresses/v1",
    "pegleg/CommonSoftwareConfig/v1",
    "pegleg/EndpointCatalogue/v1",
    "pegleg/SiteDefinition/v1",
    "pegleg/SoftwareVersions/v1",
    "promenade/PKICatalog/v1",
];

const VERSIONS: &str = "pegleg/SoftwareVersions/v1";
const ENDPOINT_CATALOGUE: &str = "pegleg/EndpointCatalogue/v1";
const ACCOUNT_CATALOGUE: &str = "pegleg/AccountCatalogue/v1";
const ADDRESSES: &str = "pegleg/CommonAddresses/v1";
const CONFIGURATION: &str = "pegleg/CommonSoftwareConfig/v1";

/// A copy of all documents.
struct Copy {
    number: usize,
    words: Words,
}

impl Copy {
    /// Name that is unique to this copy.
    fn name(&self, kind: &str, number: usize) -> String {
        format!("{kind}-{}-{number}", self.number)
    }

    fn the(&self, kind: &str) -> String {
        format!("{kind}-{}", self.number)
    }

    /// Path that is unique to this copy.
    fn path(&self, folder: &str, file: &str) -> String {
        format!("{folder}/part-{}/{file}", self.number)
    }

    fn write(mut self, out: &mut Output<'_>) -> io::Result<()> {
        self.global(out)?;
        for layer in &LAYERS {
            self.layer(out, layer)?;
        }
        Ok(())
    }

    fn global(&mut self, out: &mut Output<'_>) -> io::Result<()> {
        let versions = self.versions(CHARTS);
        let head = Head {
            is_labelled: true,
            ..Head::new(VERSIONS, &self.the("versions"), "global")
        };
        out.write(
            &self.path("global", "versions.yaml"),
            &[head.document(&versions)],
        )?;
        let charts: Vec<String> = (0..CHARTS).map(|chart| self.global_chart(chart)).collect();
        out.spread(&self.path("global/charts", "chart"), CHART_FILES, &charts)?;
        for schema in 0..SCHEMAS {
            let path = self.path("global/schemas", &format!("schema-{schema}.yaml"));
            out.write(&path, &[self.data_schema(schema)])?;
        }
        for group in 0..GROUPS {
            let path = self.path("global/groups", &format!("group-{group}.yaml"));
            out.write(&path, &[self.chart_group(group)])?;
        }
        let manifest = Head {
            is_labelled: true,
            ..Head::new("armada/Manifest/v1", &self.the("manifest"), "global")
        };
        let mut groups = String::from("  release_prefix: made\n  chart_groups:\n");
        for group in 0..GROUPS {
            let _ = writeln!(groups, "    - {}", self.name("group", group));
        }
        out.write(
            &self.path("global", "manifest.yaml"),
            &[manifest.document(&groups)],
        )?;
        self.profile_of_system(out)?;
        let others = self.others("global", (20, 24));
        out.spread(&self.path("global/profiles", "profile"), 20, &others)
    }

    /// Writes a large JSON text, like those in system profiles.
    fn profile_of_system(&mut self, out: &mut Output<'_>) -> io::Result<()> {
        let mut text = String::from("  content: |\n    {\n");
        for call in 0..780 {
            let _ = writeln!(text, "      \"{}\": \"{call}\",", self.words.word());
        }
        text.push_str("      \"last\": \"\"\n    }\n");
        let head = Head::new(
            "made/SystemProfile/v1",
            &self.the("system-profile"),
            "global",
        );
        out.write(
            &self.path("global", "system-profile.yaml"),
            &[head.document(&text)],
        )
    }

    fn layer(&mut self, out: &mut Output<'_>, layer: &Layer) -> io::Result<()> {
        let kind = if layer.site_type.is_empty() {
            "type"
        } else {
            "site"
        };
        let folder = layer.folder;
        for number in 0..layer.passphrases {
            let path = self.path(
                folder,
                &format!("secrets/passphrases/passphrase-{number}.yaml"),
            );
            out.write(&path, &[self.passphrase(kind, number)])?;
        }
        self.certificates(out, kind, layer)?;
        for chart in 0..layer.charts {
            let path = self.path(folder, &format!("charts/chart-{chart}.yaml"));
            out.write(
                &path,
                &[self.child_chart(kind, chart, chart < layer.replacements)],
            )?;
        }
        for chart in 0..layer.site_charts {
            let path = self.path(folder, &format!("charts/nodes-{chart}.yaml"));
            out.write(&path, &[self.site_chart(kind, layer.list_writes)])?;
        }
        for group in 0..layer.groups {
            let path = self.path(folder, &format!("groups/group-{group}.yaml"));
            out.write(&path, &[self.child_group(kind, group)])?;
        }
        self.catalogues(out, kind, layer)?;
        if layer.versions > 0 {
            let head = Head {
                is_labelled: true,
                replaces: true,
                parent: Some(self.the("versions")),
                actions: vec![".".into()],
                ..Head::new(VERSIONS, &self.the("versions"), kind)
            };
            let data = self.versions(layer.versions);
            out.write(&self.path(folder, "versions.yaml"), &[head.document(&data)])?;
        }
        let others = self.others(kind, layer.others);
        out.spread(
            &self.path(folder, "profile"),
            layer.files_of_others,
            &others,
        )
    }

    /// Locations of each chart and its images.
    fn versions(&mut self, charts: usize) -> String {
        let mut text = String::from("  charts:\n");
        for chart in 0..charts {
            let word = self.words.word();
            let _ = write!(
                text,
                "    chart_{chart}:\n      type: tar\n      location: \
                 https://charts.example.org/{word}/{word}-{chart}.tgz\n      subpath: {word}\n      \
                 reference: {}\n",
                self.words.digest()
            );
        }
        text.push_str("  images:\n");
        for chart in 0..charts {
            let _ = writeln!(text, "    chart_{chart}:");
            for image in 0..4 {
                let word = self.words.word();
                let _ = writeln!(
                    text,
                    "      image_{image}: registry.example.org/{word}/{word}:v{chart}.{image}"
                );
            }
        }
        text
    }

    fn global_chart(&mut self, chart: usize) -> String {
        let mut head = Head {
            is_labelled: true,
            is_component: chart.is_multiple_of(4),
            is_abstract: chart >= CHARTS - ABSTRACT_CHARTS,
            comment: chart % 6 * 2,
            ..Head::new("armada/Chart/v1", &self.name("chart", chart), "global")
        };
        for number in 0..SUBSTITUTIONS[chart % SUBSTITUTIONS.len()] {
            self.chart_substitution(&mut head, chart, number);
        }
        head.document(&self.chart_data(chart))
    }

    /// Adds a substitution; by number in turn: locations of the chart and its images, endpoints,
    /// secrets, accounts, addresses.
    fn chart_substitution(&mut self, head: &mut Head, chart: usize, number: usize) {
        let turn = chart + number;
        let catalogue = turn % 3;
        let of = |kind: &str| format!("{kind}-{}-{catalogue}", self.number);
        let (slot, entry) = (number / 5, turn % 16);
        match number {
            0 => {
                let path = format!(".charts.chart_{chart}");
                head.substitute((VERSIONS, &self.the("versions"), &path), "", ".source");
            }
            1 => {
                let path = format!(".images.chart_{chart}");
                let to = ".values.images.tags";
                head.substitute((VERSIONS, &self.the("versions"), &path), "", to);
            }
            _ if number % 10 == 9 => {
                let path = format!(".images.chart_{chart}.image_{}", turn % 4);
                let group = 1 + turn % 2;
                let extra =
                    format!("        pattern: '^(.*):(.*)$'\n        match_group: {group}\n");
                let to = format!(".values.image_parts.part_{number}");
                head.substitute((VERSIONS, &self.the("versions"), &path), &extra, &to);
            }
            _ if number % 5 == 2 => {
                let path = format!(".group.endpoint_{entry}");
                let to = format!(".values.endpoints.slot_{slot}");
                head.substitute((ENDPOINT_CATALOGUE, &of("endpoints"), &path), "", &to);
            }
            _ if number % 5 == 3 => {
                let name = self.name("passphrase", turn % PASSPHRASES_READ);
                let to = format!(".values.endpoints.slot_{slot}.auth.admin.password");
                head.substitute(("deckhand/Passphrase/v1", &name, "."), "", &to);
            }
            _ if number % 5 == 4 => {
                let path = format!(".group.account_{}", turn % ACCOUNTS);
                let to = format!(".values.endpoints.slot_{slot}.auth.user");
                head.substitute((ACCOUNT_CATALOGUE, &of("accounts"), &path), "", &to);
            }
            _ if number % 20 == 5 => {
                let to = format!(".values.conf.section_{}.option_1", number / 10);
                let from = (ADDRESSES, &*self.the("addresses"), ".dns.domain");
                head.substitute(from, "", &to);
                head.by_pattern("DOMAIN");
            }
            _ if number.is_multiple_of(10) => {
                let name = self.name("certificate", turn % CERTIFICATES_READ);
                let to = format!(".values.secrets.slot_{slot}.tls.crt");
                head.substitute(("deckhand/Certificate/v1", &name, "."), "", &to);
            }
            _ => {
                let path = format!(".hosts.host_{}.address", turn % 8);
                let to = format!(".values.network.address_{number}");
                head.substitute((ADDRESSES, &self.the("addresses"), &path), "", &to);
            }
        }
    }

    fn chart_data(&mut self, chart: usize) -> String {
        let word = self.words.word();
        let mut text = format!(
            "  chart_name: {word}\n  release: {word}-{chart}\n  namespace: {}\n  wait:\n    \
             timeout: {}\n    labels:\n      release_group: made-{word}\n  install:\n    no_hooks: \
             false\n  upgrade:\n    no_hooks: false\n    pre:\n      delete:\n        - type: \
             job\n          labels:\n            release_group: made-{word}\n  values:\n",
            self.words.word(),
            600 + chart
        );
        text.push_str("    conf:\n");
        // Every tenth chart is long.
        let sections = if chart % 10 == 7 { 20 } else { 5 };
        for section in 0..sections {
            // Placeholder for the pattern of `chart_substitution`.
            let substitutions = SUBSTITUTIONS[chart % SUBSTITUTIONS.len()];
            let is_replaced = section % 2 == 0 && section * 10 + 5 < substitutions;
            let domain = if is_replaced { "DOMAIN" } else { "example.org" };
            let _ = write!(
                text,
                "      section_{section}:\n        option_0: {}\n        option_1: \
                 http://{}.{domain}/path\n        nested:\n          {}: {}\n",
                self.words.phrase(6),
                self.words.word(),
                self.words.word(),
                self.words.phrase(5),
            );
        }
        text.push_str("    labels:\n");
        for label in 0..3 {
            let _ = write!(
                text,
                "      part_{label}:\n        node_selector_key: {}\n        \
                 node_selector_value: enabled\n",
                self.words.word()
            );
        }
        if chart % 10 == 3 {
            text.push_str("    script: |\n");
            for _ in 0..35 {
                let _ = writeln!(text, "      {}", self.words.phrase(5));
            }
        }
        let other = self.name("chart", usize::from(chart == 0));
        let _ = write!(text, "  dependencies:\n    - {other}\n");
        text
    }

    /// Chart with a global parent, which it replaces or extends.
    fn child_chart(&mut self, layer: &'static str, chart: usize, replaces: bool) -> String {
        // Sites use parents that their type has not replaced.
        let parent = if replaces || layer == "type" {
            chart
        } else {
            CHARTS - 1 - chart % 18
        };
        let parent = if replaces && layer == "site" {
            60 + chart
        } else {
            parent
        };
        let name = if replaces {
            self.name("chart", parent)
        } else {
            format!("{}-{layer}", self.name("chart", parent))
        };
        let mut actions = vec![".".to_owned()];
        actions.extend((chart % 4 == 1).then(|| ".values.labels".to_owned()));
        let mut head = Head {
            is_labelled: true,
            is_component: parent % 4 == 0,
            replaces,
            parent: Some(self.name("chart", parent)),
            actions,
            comment: 1 + chart % 2 * 3,
            ..Head::new("armada/Chart/v1", &name, layer)
        };
        if chart.is_multiple_of(4) {
            let path = format!(".hosts.host_{}.address", chart % 8);
            let from = (ADDRESSES, &*self.the("addresses"), &*path);
            head.substitute(from, "", ".values.network.own.address");
        }
        let mut data = String::from("  values:\n    pod:\n      replicas:\n");
        for part in 0..3 {
            let _ = writeln!(data, "        {}: {part}", self.words.word());
        }
        let word = self.words.word();
        let _ = write!(
            data,
            "    labels:\n      part_0:\n        node_selector_key: {word}\n    conf:\n      \
             section_1:\n        option_0: {}\n",
            self.words.phrase(3)
        );
        head.document(&data)
    }

    /// Chart with a list of nodes, each with its certificates.
    fn site_chart(&mut self, layer: &'static str, writes: usize) -> String {
        let parent = self.name("chart", CHARTS - 2);
        let mut head = Head {
            parent: Some(parent.clone()),
            actions: vec![".".into()],
            comment: 30,
            ..Head::new("armada/Chart/v1", &format!("{parent}-nodes"), layer)
        };
        for number in 0..writes {
            let node = number / 5;
            let certificate = self.name("certificate", number % CERTIFICATES_READ);
            let key = self.name("certificate-key", number % CERTIFICATES_READ);
            let host = format!(".hosts.host_{}.name", node % 8);
            let tls = format!(".values.nodes[{node}].tls");
            let certificate = ("deckhand/Certificate/v1", &*certificate, ".");
            let key = ("deckhand/CertificateKey/v1", &*key, ".");
            match number % 5 {
                0 => {
                    let to = format!(".values.nodes[{node}].name");
                    head.substitute((ADDRESSES, &self.the("addresses"), &host), "", &to);
                }
                1 => head.substitute(certificate, "", &format!("{tls}.client.cert")),
                2 => head.substitute(key, "", &format!("{tls}.client.key")),
                3 => head.substitute(certificate, "", &format!("{tls}.peer.cert")),
                _ => head.substitute(key, "", &format!("{tls}.peer.key")),
            }
        }
        let mut data = String::from("  values:\n    nodes:\n");
        for _ in 0..writes.div_ceil(5) {
            text_of_node(&mut data);
        }
        head.document(&data)
    }

    fn passphrase(&mut self, layer: &'static str, number: usize) -> String {
        let name = self.name("passphrase", number);
        let head = Head::new("deckhand/Passphrase/v1", &name, layer);
        head.document(&format!(" {}\n", &self.words.digest()[..13]))
    }

    fn certificates(
        &mut self,
        out: &mut Output<'_>,
        layer: &'static str,
        counts: &Layer,
    ) -> io::Result<()> {
        let mut bundle = Vec::new();
        let kinds = [
            ("certificate", "Certificate", counts.certificates, 22, 29),
            (
                "authority",
                "CertificateAuthority",
                counts.authorities,
                21,
                29,
            ),
        ];
        for (kind, schema, count, lines, key_lines) in kinds {
            for number in 0..count {
                let name = self.name(kind, number);
                let first = Head::new(&format!("deckhand/{schema}/v1"), &name, layer);
                let first = first.document(&self.words.block(lines));
                let name = self.name(&format!("{kind}-key"), number);
                let schema = format!("deckhand/{schema}Key/v1");
                let second = Head::new(&schema, &name, layer);
                let pair = [first, second.document(&self.words.block(key_lines))];
                if counts.is_bundled {
                    bundle.extend(pair);
                } else {
                    let file = format!("secrets/certificates/{kind}-{number}.yaml");
                    out.write(&self.path(counts.folder, &file), &pair)?;
                }
            }
        }
        if bundle.is_empty() {
            return Ok(());
        }
        out.write(
            &self.path(counts.folder, "secrets/certificates.yaml"),
            &bundle,
        )
    }

    fn catalogues(
        &mut self,
        out: &mut Output<'_>,
        layer: &'static str,
        counts: &Layer,
    ) -> io::Result<()> {
        let folder = counts.folder;
        if counts.endpoints > 0 {
            let documents: Vec<String> = (0..3)
                .map(|number| self.endpoints(layer, counts, number))
                .collect();
            out.write(&self.path(folder, "endpoints.yaml"), &documents)?;
        }
        if counts.accounts {
            let documents: Vec<String> =
                (0..3).map(|number| self.accounts(layer, number)).collect();
            out.write(&self.path(folder, "accounts.yaml"), &documents)?;
        }
        if counts.addresses.0 > 0 {
            let document = self.addresses(layer, counts.addresses);
            out.write(&self.path(folder, "addresses.yaml"), &[document])?;
        }
        if counts.declared > 0 {
            let document = self.declared(layer, counts.declared);
            out.write(&self.path(folder, "pki-catalogue.yaml"), &[document])?;
        }
        // The accounts of the type read it, so every site needs one.
        if layer == "site" {
            let head = Head::new(CONFIGURATION, &self.the("configuration"), layer);
            let data = format!("  region: {}\n", self.words.word());
            out.write(
                &self.path(folder, "configuration.yaml"),
                &[head.document(&data)],
            )?;
        }
        Ok(())
    }

    fn endpoints(&mut self, layer: &'static str, counts: &Layer, number: usize) -> String {
        let head = Head::new(ENDPOINT_CATALOGUE, &self.name("endpoints", number), layer);
        let mut head = Head { comment: 1, ..head };
        let count = counts.endpoints / 3;
        let mut data = String::from("  group:\n");
        for endpoint in 0..count {
            let word = self.words.word();
            let domain = if counts.puts_domain {
                "DOMAIN"
            } else {
                "example.org"
            };
            let _ = write!(
                data,
                "    endpoint_{endpoint}:\n      name: {word}\n      hosts:\n        default: \
                 {word}-api\n        public: {word}\n      host_fqdn_override:\n        default: \
                 null\n        public:\n          host: {word}.{domain}\n      path:\n        \
                 default: /v{endpoint}\n      scheme:\n        default: http\n        public: \
                 https\n      port:\n        api:\n          default: 80\n          public: 443\n"
            );
        }
        if counts.puts_domain {
            let addresses = self.the("addresses");
            for first in (0..count).step_by(4) {
                self.put_domain(&mut head, &addresses, first..count.min(first + 4));
            }
        }
        head.document(&data)
    }

    /// Adds a substitution with several destinations.
    fn put_domain(&self, head: &mut Head, addresses: &str, endpoints: std::ops::Range<usize>) {
        let _ = write!(
            head.substitutions,
            "    - src:\n        schema: {ADDRESSES}\n        name: {addresses}\n        path: \
             .dns.domain\n      dest:\n"
        );
        for endpoint in endpoints.clone() {
            let _ = write!(
                head.substitutions,
                "        - path: .group.endpoint_{endpoint}.host_fqdn_override.public.host\n          \
                 pattern: DOMAIN\n"
            );
        }
    }

    fn accounts(&mut self, layer: &'static str, number: usize) -> String {
        let head = Head::new(ACCOUNT_CATALOGUE, &self.name("accounts", number), layer);
        let mut head = Head { comment: 5, ..head };
        for account in 0..4 {
            let from = (CONFIGURATION, &*self.the("configuration"), ".region");
            head.substitute(from, "", &format!(".group.account_{account}.region"));
        }
        let mut data = String::from("  group:\n");
        for account in 0..ACCOUNTS {
            let word = self.words.word();
            let _ = write!(
                data,
                "    account_{account}:\n      username: {word}\n      role: {}\n      project:\n        \
                 name: {word}-project\n        domain: default\n",
                self.words.word()
            );
        }
        head.document(&data)
    }

    fn addresses(&mut self, layer: &'static str, (hosts, comment): (usize, usize)) -> String {
        let head = Head {
            comment,
            ..Head::new(ADDRESSES, &self.the("addresses"), layer)
        };
        let mut data = String::from("  dns:\n    domain: made.example.org\n  hosts:\n");
        for host in 0..hosts {
            let _ = write!(
                data,
                "    host_{host}:\n      name: {}\n      address: 10.{}.{host}.1\n      aliases: [{}]\n",
                self.words.word(),
                self.number % 200,
                self.words.word()
            );
        }
        head.document(&data)
    }

    fn declared(&mut self, layer: &'static str, count: usize) -> String {
        let head = Head::new("promenade/PKICatalog/v1", &self.the("pki"), layer);
        let mut data = String::from("  certificate_authorities:\n    made:\n      certificates:\n");
        for number in 0..count {
            let name = self.name("certificate", number);
            let _ = write!(
                data,
                "        - document_name: {name}\n          common_name: system:node:{}\n          \
                 hosts:\n            - {}.example.org\n          groups: [{}]\n",
                self.words.word(),
                self.words.word(),
                self.words.word()
            );
        }
        Head {
            comment: count,
            ..head
        }
        .document(&data)
    }

    /// The first schemas apply to existing documents and validate all their content, which is more
    /// than treasuremap's schemas do.
    fn data_schema(&mut self, number: usize) -> String {
        let known = KINDS.get(number).filter(|_| self.number == 0);
        let name = match known {
            Some(kind) => (*kind).to_owned(),
            None => format!("made/{}/v1", letters(self.number * SCHEMAS + number)),
        };
        let head = Head {
            control: true,
            ..Head::new("deckhand/DataSchema/v1", &name, "")
        };
        let mut data = String::from(
            "  $schema: 'http://json-schema.org/schema#'\n  type: object\n  properties:\n",
        );
        for property in 0..15 {
            // Patterns are as rare as in treasuremap: 11 in its 30 schemas.
            let has_pattern = property == 0 && number.is_multiple_of(3);
            let pattern = if has_pattern {
                "          pattern: '^.+$'\n"
            } else {
                ""
            };
            let _ = write!(
                data,
                "    {}_{property}:\n      type: object\n      properties:\n        name:\n          \
                 type: string\n{pattern}        count:\n          type: integer\n          \
                 minimum: 0\n",
                self.words.word()
            );
        }
        data.push_str(match known {
            // As with real schemas, most of a document is unconstrained.
            Some(_) => {
                "  additionalProperties:\n    type: [array, boolean, integer, number, object, \
                 string, 'null']\n"
            }
            None => "  additionalProperties: false\n",
        });
        head.document(&data)
    }

    fn chart_group(&mut self, number: usize) -> String {
        let name = self.name("group", number);
        let head = Head {
            is_labelled: true,
            ..Head::new("armada/ChartGroup/v1", &name, "global")
        };
        let mut data = format!("  description: {}\n  chart_group:\n", self.words.phrase(3));
        for chart in 0..2 {
            let chart = (number * 2 + chart) % (CHARTS - ABSTRACT_CHARTS);
            let _ = writeln!(data, "    - {}", self.name("chart", chart));
        }
        head.document(&data)
    }

    /// Group with a global parent; types and sites use different parents.
    fn child_group(&mut self, layer: &'static str, number: usize) -> String {
        let replaces = number.is_multiple_of(2);
        let parent = self.name("group", if layer == "type" { number } else { 10 + number });
        let name = if replaces {
            parent.clone()
        } else {
            format!("{parent}-{layer}")
        };
        let head = Head {
            replaces,
            parent: Some(parent),
            actions: vec![".".into()],
            ..Head::new("armada/ChartGroup/v1", &name, layer)
        };
        head.document(&format!("  description: {}\n", self.words.phrase(3)))
    }

    fn others(&mut self, layer: &'static str, (count, keys): (usize, usize)) -> Vec<String> {
        let substitutions = match layer {
            "global" => 3,
            "type" => 7,
            _ => 0,
        };
        let others = 0..count;
        others
            .map(|number| {
                let name = self.name("profile", number);
                let head = Head::new("made/Profile/v1", &format!("{name}-{layer}"), layer);
                let mut data = String::new();
                for key in 0..keys {
                    let (word, phrase) = (self.words.word(), self.words.phrase(2));
                    let _ = match key % 4 {
                        0 => writeln!(data, "  {word}_{key}:\n    - {phrase}"),
                        1 => writeln!(data, "  {word}_{key}:\n    name: '{phrase}'"),
                        _ => writeln!(data, "  {word}_{key}: {phrase}"),
                    };
                }
                let mut head = Head {
                    comment: number % 8 * 2,
                    ..head
                };
                for entry in 0..substitutions {
                    let path = format!(".hosts.host_{entry}.address");
                    let to = format!(".addresses.address_{entry}");
                    head.substitute((ADDRESSES, &self.the("addresses"), &path), "", &to);
                }
                head.document(&data)
            })
            .collect()
    }
}

/// A node of a list, to be filled by substitutions.
fn text_of_node(data: &mut String) {
    data.push_str(
        "      - name: none\n        tls:\n          client:\n            cert: none\n            \
         key: none\n          peer:\n            cert: none\n            key: none\n",
    );
}

/// Encodes a number as a word.
fn letters(mut number: usize) -> String {
    let mut word = String::from("Kind");
    loop {
        word.push(char::from(
            b'a' + u8::try_from(number % 26).expect("below 26"),
        ));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}

/// Meaningless words, generated by xorshift over syllables and letters.
struct Words(u64);

impl Words {
    fn new(seed: usize) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ (seed as u64 + 1))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "cor", "del", "fin", "ga", "hul", "jor", "ka", "lim", "mon", "ner", "pol", "ra",
            "sil", "tem", "vol",
        ];
        (0..3)
            .map(|_| SYLLABLES[self.below(SYLLABLES.len())])
            .collect()
    }

    fn phrase(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn digest(&mut self) -> String {
        format!(
            "d{:016x}{:016x}",
            self.below(usize::MAX),
            self.below(usize::MAX)
        )
    }

    /// A block scalar of lines like those of certificates, after a key.
    fn block(&mut self, lines: usize) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::from(" |\n  -----BEGIN NOTHING-----\n");
        for _ in 0..lines.saturating_sub(2) {
            let line: String = (0..64)
                .map(|_| char::from(LETTERS[self.below(64)]))
                .collect();
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("  -----END NOTHING-----\n");
        text
    }
}
