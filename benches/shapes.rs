//! The repositories that are measured: treasuremap's shape at any size, and
//! shapes that are hard in one way each.
//!
//! Each is written by counting, so that the same one always has the same
//! bytes. In each two values below `global/` can be edited, one after the other.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::generator::{self, Output, Size};

/// What a repository is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Treasuremap's, so many times over.
    Times(usize),
    /// Two sites of many documents.
    FewSites,
    /// So many sites of few documents.
    ManySites(usize),
    /// Chains of parents through many layers, and chains of substitutions.
    Deep,
    /// One document that is substituted into many.
    Wide,
    /// One document that is the parent of many.
    Children,
}

/// An edit of one value: the next place of a file at which a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub path: String,
    pub from: String,
    pub to: String,
}

impl Shape {
    /// Those that are measured where nothing is asked for.
    pub const USUAL: [Shape; 8] = [
        Shape::Times(1),
        Shape::Times(10),
        Shape::Times(50),
        Shape::FewSites,
        Shape::ManySites(200),
        Shape::Deep,
        Shape::Wide,
        Shape::Children,
    ];

    /// Those, and what takes gigabytes and minutes.
    pub const ALL: [Shape; 10] = [
        Shape::Times(1),
        Shape::Times(10),
        Shape::Times(50),
        Shape::Times(200),
        Shape::FewSites,
        Shape::ManySites(200),
        Shape::ManySites(1000),
        Shape::Deep,
        Shape::Wide,
        Shape::Children,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> String {
        match self {
            Shape::Times(times) => format!("times-{times}"),
            Shape::FewSites => "few-sites".into(),
            Shape::ManySites(sites) => format!("sites-{sites}"),
            Shape::Deep => "deep".into(),
            Shape::Wide => "wide".into(),
            Shape::Children => "children".into(),
        }
    }

    /// The shape of this name.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(times) = name.strip_prefix("times-") {
            return times.parse().ok().map(Shape::Times);
        }
        if let Some(sites) = name.strip_prefix("sites-") {
            return sites.parse().ok().map(Shape::ManySites);
        }
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// Writes it into a folder, which is empty.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write(self, folder: &Path) -> io::Result<Size> {
        if let Shape::Times(times) = self {
            return generator::write(folder, times);
        }
        let mut out = Output::new(folder);
        match self {
            Shape::Times(_) => {}
            Shape::FewSites => few_sites(&mut out)?,
            Shape::ManySites(sites) => many_sites(&mut out, sites)?,
            Shape::Deep => deep(&mut out)?,
            Shape::Wide => wide(&mut out)?,
            Shape::Children => children(&mut out)?,
        }
        Ok(out.size)
    }

    /// One value below `global/` is another; done twice, these are two edits.
    pub fn edit(self) -> Edit {
        let (path, from, to) = match self {
            Shape::Times(_) => ("global/part-0/versions.yaml", "reference: d", "reference: e"),
            Shape::FewSites | Shape::ManySites(_) | Shape::Deep | Shape::Wide | Shape::Children => {
                ("global/source.yaml", ": as-it-was", ": edited")
            }
        };
        Edit { path: path.into(), from: from.into(), to: to.into() }
    }
}

/// What stands in the document that is edited.
const SOURCE: &str =
    "  name: as-it-was\n  port: as-it-was\n  kept: {host: example.org, level: 3}\n";

/// A layering policy, and the document that is edited, with a label.
fn begin(out: &mut Output<'_>, layers: &[String]) -> io::Result<()> {
    let order: String = layers.iter().map(|layer| format!("  - {layer}\n")).collect();
    let policy = format!(
        "---\nschema: deckhand/LayeringPolicy/v1\nmetadata:\n  schema: metadata/Control/v1\n  name: \
         layers\ndata:\n  layerOrder:\n{order}...\n"
    );
    out.write("global/layering-policy.yaml", &[policy])?;
    out.write("global/source.yaml", &[Made::new("source", "global").labelled().document(SOURCE)])
}

fn usual_layers() -> Vec<String> {
    ["global", "type", "site"].map(str::to_owned).to_vec()
}

fn site(out: &mut Output<'_>, name: &str) -> io::Result<()> {
    let definition = format!(
        "---\nschema: pegleg/SiteDefinition/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
         {name}\n  layeringDefinition: {{abstract: false, layer: site}}\n  storagePolicy: \
         cleartext\ndata:\n  site_type: small\n...\n"
    );
    out.write(&format!("site/{name}/site-definition.yaml"), &[definition])?;
    // The type is one as soon as it has a file.
    if !out.folder.join("type/small").exists() {
        let text = Made::new("of-the-type", "type").document("  kept: yes\n");
        out.write("type/small/one.yaml", &[text])?;
    }
    Ok(())
}

/// A document, while it is put together.
struct Made {
    name: String,
    layer: String,
    labels: bool,
    parent: Option<String>,
    substitutions: String,
}

impl Made {
    fn new(name: &str, layer: &str) -> Self {
        let (name, layer) = (name.to_owned(), layer.to_owned());
        Self { name, layer, labels: false, parent: None, substitutions: String::new() }
    }

    fn labelled(self) -> Self {
        Self { labels: true, ..self }
    }

    fn below(self, parent: &str) -> Self {
        Self { parent: Some(parent.to_owned()), ..self }
    }

    fn reads(mut self, source: &str, path: &str, to: &str) -> Self {
        let _ = write!(
            self.substitutions,
            "    - src: {{schema: made/Shape/v1, name: {source}, path: {path}}}\n      dest: {{path: \
             {to}}}\n"
        );
        self
    }

    fn document(self, data: &str) -> String {
        let Self { name, layer, labels, parent, substitutions } = self;
        let mut text = format!(
            "---\nschema: made/Shape/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n"
        );
        if labels {
            let _ = writeln!(text, "  labels: {{name: {name}}}");
        }
        let _ = write!(
            text,
            "  storagePolicy: cleartext\n  layeringDefinition:\n    abstract: false\n"
        );
        let _ = writeln!(text, "    layer: {layer}");
        if let Some(parent) = parent {
            let _ = write!(
                text,
                "    parentSelector: {{name: {parent}}}\n    actions:\n      - {{method: merge, path: \
                 .}}\n"
            );
        }
        if !substitutions.is_empty() {
            let _ = write!(text, "  substitutions:\n{substitutions}");
        }
        let _ = write!(text, "data:\n{data}...\n");
        text
    }
}

/// So many documents of a kind, a hundred in a file.
fn many(
    out: &mut Output<'_>,
    path: &str,
    count: usize,
    document: impl Fn(usize) -> String,
) -> io::Result<()> {
    const IN_A_FILE: usize = 100;
    for first in (0..count).step_by(IN_A_FILE) {
        let documents: Vec<String> = (first..count.min(first + IN_A_FILE)).map(&document).collect();
        out.write(&format!("{path}-{}.yaml", first / IN_A_FILE), &documents)?;
    }
    Ok(())
}

fn data_of(number: usize) -> String {
    format!(
        "  title: the document of number {number}\n  numbers: [{number}, {}, {}]\n  nested:\n    \
         deeper:\n      host: host-{number}.example.org\n      port: {}\n",
        number + 1,
        number + 2,
        8000 + number % 1000
    )
}

/// Two sites of 8,000 documents, of which they share 4,000.
fn few_sites(out: &mut Output<'_>) -> io::Result<()> {
    begin(out, &usual_layers())?;
    many(out, "global/many", 4_000, |number| {
        let made = Made::new(&format!("global-{number}"), "global").labelled();
        let made = if number % 4 == 0 { made.reads("source", ".name", ".name") } else { made };
        made.document(&data_of(number))
    })?;
    for name in ["east", "west"] {
        site(out, name)?;
        many(out, &format!("site/{name}/many"), 4_000, |number| {
            let made = Made::new(&format!("{name}-{number}"), "site");
            match number % 2 {
                0 => made.below(&format!("global-{number}")).document("  numbers: [0]\n"),
                _ => {
                    let from = format!("global-{number}");
                    made.reads(&from, ".nested.deeper.host", ".host").document(&data_of(number))
                }
            }
        })?;
    }
    Ok(())
}

/// So many sites of 28 documents, of which 23 are in all of them.
fn many_sites(out: &mut Output<'_>, sites: usize) -> io::Result<()> {
    begin(out, &usual_layers())?;
    many(out, "global/some", 20, |number| {
        let made = Made::new(&format!("global-{number}"), "global").labelled();
        made.reads("source", ".name", ".name").document(&data_of(number))
    })?;
    for number in 0..sites {
        let name = format!("site-{number}");
        site(out, &name)?;
        for file in 0..4 {
            let made = Made::new(&format!("own-{file}"), "site");
            let made = match file {
                0 => made.below("global-0"),
                1 => made.below("global-1").reads("source", ".port", ".port"),
                _ => made.reads("global-2", ".nested.deeper.host", ".host"),
            };
            out.write(&format!("site/{name}/own-{file}.yaml"), &[made.document(&data_of(number))])?;
        }
    }
    Ok(())
}

/// 50 chains of parents through 60 layers, and one of 1,000 substitutions.
fn deep(out: &mut Output<'_>) -> io::Result<()> {
    const LAYERS: usize = 60;
    let inner = (1..LAYERS - 1).map(|layer| format!("layer-{layer}"));
    let mut layers: Vec<String> =
        std::iter::once("global".into()).chain(inner).chain(["site".into()]).collect();
    // What is of the type is in no chain.
    layers.insert(LAYERS - 1, "type".into());
    begin(out, &layers)?;
    site(out, "one")?;
    for chain in 0..50 {
        let name = |layer: usize| format!("chain-{chain}-{layer}");
        let documents: Vec<String> = (0..LAYERS - 1)
            .map(|layer| {
                let made = Made::new(&name(layer), &layers[layer]).labelled();
                match layer {
                    0 => made.reads("source", ".name", ".name").document(&data_of(chain)),
                    _ => made
                        .below(&name(layer - 1))
                        .document(&format!("  layer_{layer}: {chain}\n")),
                }
            })
            .collect();
        out.write(&format!("global/chains/chain-{chain}.yaml"), &documents)?;
        let last = Made::new(&name(LAYERS - 1), "site").below(&name(LAYERS - 2));
        out.write(&format!("site/one/chain-{chain}.yaml"), &[last.document("  last: yes\n")])?;
    }
    many(out, "site/one/link", 1_000, |number| {
        let made = Made::new(&format!("link-{number}"), "site");
        let made = match number.checked_sub(1) {
            None => made.reads("source", ".name", ".name"),
            Some(before) => made.reads(&format!("link-{before}"), ".name", ".name"),
        };
        made.document(&format!("  number: {number}\n  name: none\n"))
    })
}

/// One document, substituted into 10,000.
fn wide(out: &mut Output<'_>) -> io::Result<()> {
    begin(out, &usual_layers())?;
    site(out, "one")?;
    many(out, "site/one/reader", 10_000, |number| {
        let made = Made::new(&format!("reader-{number}"), "site");
        made.reads("source", ".name", ".name").document(&data_of(number))
    })
}

/// One document, and 10,000 that are laid on it.
fn children(out: &mut Output<'_>) -> io::Result<()> {
    begin(out, &usual_layers())?;
    site(out, "one")?;
    many(out, "site/one/child", 10_000, |number| {
        Made::new(&format!("child-{number}"), "site").below("source").document(&data_of(number))
    })
}
