//! Document graph: a tree for humans, DOT and Mermaid for diagrams, JSON for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use super::{AnswerPlace, painted_places, places};
use crate::report::printable::{clean, is_harmful};
use crate::report::story::SiteNames;
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, View};
use crate::source::{DocKey, Span, Triple};

/// Graph of the documents of one site.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentGraph<At = Span> {
    /// The site; `None` for files without a site layout.
    pub(crate) site: Option<Arc<str>>,
    /// Documents, in the order of their files.
    pub(crate) documents: Vec<GraphNode<At>>,
    /// Edges from source to derived document, ordered by the source.
    pub(crate) edges: Vec<GraphEdge<At>>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct GraphNode<At = Span> {
    pub(crate) document: DocKey,
    /// Start of the document.
    pub(crate) at: At,
    /// Whether the document is rendered.
    pub(crate) is_output: bool,
    /// Whether the document is abstract.
    pub(crate) is_abstract: bool,
}

/// A dependency between two documents.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct GraphEdge<At = Span> {
    /// Index of the source document.
    pub(crate) from: usize,
    /// Index of the derived document.
    pub(crate) to: usize,
    pub(crate) kind: EdgeKind,
    /// The parent selector or the substitution.
    pub(crate) at: At,
}

type ShownGraph<'v> = DocumentGraph<AnswerPlace<'v>>;

type ShownEdge<'v> = GraphEdge<AnswerPlace<'v>>;

impl DocumentGraph {
    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> ShownGraph<'v> {
        let documents = self.documents.into_iter().map(|node| GraphNode {
            document: node.document,
            at: AnswerPlace::new(node.at, view),
            is_output: node.is_output,
            is_abstract: node.is_abstract,
        });
        let edges = self.edges.into_iter().map(|edge| GraphEdge {
            from: edge.from,
            to: edge.to,
            kind: edge.kind,
            at: AnswerPlace::new(edge.at, view),
        });
        DocumentGraph {
            site: self.site,
            documents: documents.collect(),
            edges: edges.collect(),
        }
    }
}

/// Kind of a dependency between two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EdgeKind {
    /// The derived document is layered on the source.
    Inherited,
    /// The derived document is layered on the source and replaces it.
    Replaced,
    /// A value of the source is substituted.
    Substituted,
    /// The source is one of several merged documents.
    Merged,
}

impl EdgeKind {
    /// Verb printed for a derived document below its source.
    fn of_child(self) -> &'static str {
        match self {
            EdgeKind::Replaced => "replaces",
            EdgeKind::Inherited | EdgeKind::Substituted | EdgeKind::Merged => self.as_str(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Inherited => "inherited",
            EdgeKind::Replaced => "replaced",
            EdgeKind::Substituted => "substituted",
            EdgeKind::Merged => "merged",
        }
    }
}

/// Writes each site's documents as trees of parents and children with their substitutions; sites
/// with equal trees share one.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    graphs: &[ShownGraph<'_>],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = SiteNames::of(graphs.iter().map(|graph| (graph.site.as_deref(), None)));
    let mut alike: IndexMap<Vec<u8>, BTreeSet<usize>> = IndexMap::new();
    // A site may have none of the selected files.
    for (at, graph) in graphs
        .iter()
        .enumerate()
        .filter(|(_, graph)| !graph.documents.is_empty())
    {
        let mut tree = Vec::new();
        write_tree(graph, style, &mut tree)?;
        alike.entry(tree).or_default().insert(at);
    }
    for (index, (tree, sites)) in alike.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let label = names.phrase(sites).words();
        let label = if label.is_empty() {
            "-".into()
        } else {
            clean(&label)
        };
        writeln!(out, "{}", painted(&label, TextRole::Strong, style))?;
        out.write_all(tree)?;
    }
    Ok(())
}

fn write_tree(
    graph: &ShownGraph<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tree = ParentTree::of(graph);
    let mut schema = None;
    for root in &tree.roots {
        let of_root = &graph.documents[*root].document.schema;
        if schema != Some(of_root) {
            writeln!(out, "  {}", painted(&clean(of_root), TextRole::Dim, style))?;
            schema = Some(of_root);
        }
        tree.write(*root, style, out)?;
    }
    Ok(())
}

/// Documents of a site by parent.
struct ParentTree<'a> {
    graph: &'a ShownGraph<'a>,
    /// Documents without a parent, by schema, name and layer.
    roots: Vec<usize>,
    children: BTreeMap<usize, Vec<(usize, ShownEdge<'a>)>>,
    sources: BTreeMap<usize, Vec<ShownEdge<'a>>>,
}

impl<'a> ParentTree<'a> {
    fn of(graph: &'a ShownGraph<'a>) -> Self {
        let order = |node: &usize| {
            let Triple {
                schema,
                name,
                layer,
            } = &*graph.documents[*node].document;
            (schema, name, layer)
        };
        let (mut children, mut sources) = (BTreeMap::new(), BTreeMap::new());
        let mut is_child = vec![false; graph.documents.len()];
        for edge in &graph.edges {
            match edge.kind {
                EdgeKind::Inherited | EdgeKind::Replaced => {
                    is_child[edge.to] = true;
                    let of = children.entry(edge.from).or_insert_with(Vec::new);
                    of.push((edge.to, *edge));
                }
                EdgeKind::Substituted | EdgeKind::Merged => {
                    sources.entry(edge.to).or_insert_with(Vec::new).push(*edge);
                }
            }
        }
        for of in children.values_mut() {
            of.sort_by_key(|(child, _)| order(child));
        }
        let mut roots: Vec<usize> = (0..graph.documents.len())
            .filter(|node| !is_child[*node])
            .collect();
        roots.sort_by_key(order);
        Self {
            graph,
            roots,
            children,
            sources,
        }
    }

    /// Writes a document and all its descendants. A parent is in a higher layer than its child, so
    /// there are no cycles; an explicit stack avoids recursion for many layers.
    fn write(&self, root: usize, style: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        let mut open = vec![(root, 2, None)];
        while let Some((node, depth, edge)) = open.pop() {
            self.write_node(node, depth, edge, style, out)?;
            let children = self.children.get(&node).into_iter().flatten().rev();
            open.extend(children.map(|(child, edge)| (*child, depth + 1, Some(*edge))));
        }
        Ok(())
    }

    fn write_node(
        &self,
        node: usize,
        depth: usize,
        edge: Option<ShownEdge<'_>>,
        style: &TerminalStyle,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        const MAX_INDENT_LEVELS: usize = 12;
        let indent = "  ".repeat(depth.min(MAX_INDENT_LEVELS));
        let GraphNode {
            document: key,
            at,
            is_output,
            is_abstract,
        } = &self.graph.documents[node];
        let mut words = vec![clean(&key.layer).into_owned()];
        words.extend(is_abstract.then(|| "abstract".to_owned()));
        words.extend((!is_output && !is_abstract).then(|| "no output".to_owned()));
        words.extend(edge.map(|edge| edge.kind.of_child().to_owned()));
        words.retain(|word| !word.is_empty());
        let words = if words.is_empty() {
            String::new()
        } else {
            format!(" ({})", words.join(", "))
        };
        let name = painted(&clean(&key.name), TextRole::Name, style);
        writeln!(out, "{indent}{name}{words}")?;
        let selector = edge.map(|edge| edge.at);
        let at: Vec<AnswerPlace<'_>> = std::iter::once(*at).chain(selector).collect();
        for line in painted_places(&at, style).lines() {
            writeln!(out, "{indent}    {line}")?;
        }
        let mut last = None;
        for edge in self.sources.get(&node).into_iter().flatten() {
            let source = &self.graph.documents[edge.from].document;
            if last != Some(edge.from) {
                let (schema, name) = (clean(&source.schema), clean(&source.name));
                let place = painted(&self.place_of(*edge), TextRole::Place, style);
                writeln!(out, "{indent}  ← {schema} {name}  {place}")?;
            }
            last = Some(edge.from);
        }
        Ok(())
    }

    /// Returns the location of an edge, shortened to `:LINE` if it is in the file of the document
    /// or in the default file of its source.
    fn place_of(&self, edge: ShownEdge<'_>) -> String {
        let file_of = |node: usize| self.graph.documents[node].at.file;
        if [edge.from, edge.to].map(file_of).contains(&edge.at.file) {
            format!(":{}", edge.at.line)
        } else {
            places(&[edge.at])
        }
    }
}

/// Writes all sites as one Graphviz DOT graph with a cluster for each site.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_dot(graphs: &[ShownGraph<'_>], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "digraph layercake {{\n  rankdir=LR;\n  node [shape=box];"
    )?;
    for (number, graph) in graphs.iter().enumerate() {
        let site = quoted(graph.site.as_deref().unwrap_or("-"));
        writeln!(out, "  subgraph cluster_{number} {{\n    label={site};")?;
        for (index, node) in graph.documents.iter().enumerate() {
            let label = quoted(&label(node));
            let style = if node.is_output { "solid" } else { "dashed" };
            writeln!(out, "    s{number}d{index} [label={label}, style={style}];")?;
        }
        for edge in &graph.edges {
            let (from, to, kind) = (edge.from, edge.to, edge.kind.as_str());
            let label = quoted(&format!("{kind}\n{}", places(&[edge.at])));
            writeln!(
                out,
                "    s{number}d{from} -> s{number}d{to} [label={label}];"
            )?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

/// Returns a document's label of three lines.
fn label(GraphNode { document, at, .. }: &GraphNode<AnswerPlace<'_>>) -> String {
    let name = document.name_and_layer();
    format!("{}\n{name}\n{}", document.schema, places(&[*at]))
}

/// Quotes a string for DOT; line breaks are kept.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}

/// Writes all sites as one Mermaid flowchart with a subgraph for each site.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_mermaid(graphs: &[ShownGraph<'_>], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flowchart LR")?;
    for (number, graph) in graphs.iter().enumerate() {
        let site = entities(graph.site.as_deref().unwrap_or("-"));
        writeln!(out, "  subgraph s{number}[\"{site}\"]")?;
        for (index, node) in graph.documents.iter().enumerate() {
            let label = entities(&label(node));
            writeln!(out, "    s{number}d{index}[\"{label}\"]")?;
        }
        for edge in &graph.edges {
            let (from, to, kind) = (edge.from, edge.to, edge.kind.as_str());
            let label = entities(&format!("{kind}\n{}", places(&[edge.at])));
            writeln!(
                out,
                "    s{number}d{from} -- \"{label}\" --> s{number}d{to}"
            )?;
        }
        writeln!(out, "  end")?;
    }
    Ok(())
}

/// Escapes a string for Mermaid and HTML as entities; line breaks are kept.
fn entities(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str("<br/>"),
            ' ' | '-' | '.' | '/' | '_' | ':' | '(' | ')' | ',' => escaped.push(character),
            _ if character.is_alphanumeric() => escaped.push(character),
            _ if is_harmful(character) => escaped.push('?'),
            _ => write!(escaped, "#{};", u32::from(character))
                .expect("writing to a string cannot fail"),
        }
    }
    escaped
}
