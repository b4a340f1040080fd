//! Comparisons built by hand: the values, locations and secrecy come from two sides of real YAML.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use layercake::compare::reach::{Comparison, EditReach, Group, Shield, SiteReach, Why};
use layercake::compare::{
    Cause, Change, Deployed, DeployedCounts, Hop, Output, PlaceCauses, Proof, Status, Via,
};
use layercake::deployment::Consequences;
use layercake::edit::{Edit, EditId, EditKind, Part, Text};
use layercake::report::model::{self, Report, ReportInput, ReportedRepository, SideKind, Timing};
use layercake::report::{
    Detail, FindingFilter, Format, TerminalOptions, TerminalStyle, View, canonical,
};
use layercake::rules::RULES;
use layercake::source::{DocKey, FileId, RepoPath, Source, SourceMap, Span, UsedRepository};
use layercake::triage;
use layercake::yaml::diff::{DiffPlace, Difference};
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Key, Node, parse};

use super::plain;
use crate::support::saved;

/// Two sides, and the given results of their comparison.
pub struct World {
    pub sources: SourceMap,
    files: BTreeMap<(Side, String), FileId>,
    roots: BTreeMap<FileId, Node>,
    secrets: Vec<Span>,
    pub comparison: Comparison,
    pub findings: Option<triage::ComparedFindings>,
    pub sides: model::ReportedComparison,
    pub repositories: Vec<UsedRepository>,
    outputs: usize,
    /// By name.
    schemas: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Base,
    Head,
}

impl Side {
    /// Commit of further repositories on this side.
    pub fn commit(self) -> &'static str {
        match self {
            Side::Base => "1d5f2a90b4c8e7d6a3f1029384756abcdef01234",
            Side::Head => "3f2a91c07b5d4e8f9a6c1b2d3e4f5a6b7c8d9e0f",
        }
    }
}

/// Step of a route: how, to which document, at which path, and the lines that carried it.
pub type Step<'a> = (Via, &'a str, &'a str, &'a [(&'a str, usize)]);

impl World {
    /// Creates sites with these names and files as `(path, base, head)`; an empty text means that
    /// the file does not exist.
    pub fn new(sites: &[&str], files: &[(&str, &str, &str)]) -> Self {
        let mut world = Self {
            sources: SourceMap::new(),
            files: BTreeMap::new(),
            roots: BTreeMap::new(),
            secrets: Vec::new(),
            comparison: Comparison::default(),
            findings: None,
            sides: sides(),
            repositories: Vec::new(),
            outputs: 1972,
            schemas: BTreeMap::new(),
        };
        for (path, base, head) in files {
            world.add(Side::Base, path, base);
            if base == head {
                let same = world.files[&(Side::Base, (*path).to_owned())];
                world.files.insert((Side::Head, (*path).to_owned()), same);
            } else {
                world.add(Side::Head, path, head);
            }
        }
        let names = sites.iter().map(|site| Some(Arc::from(*site)));
        // Files without a layout are a single unnamed site.
        let unnamed = if sites.is_empty() { Some(None) } else { None };
        let reach = |site| SiteReach {
            site,
            site_type: None,
            base: Some(300),
            head: Some(300),
            is_read: true,
        };
        world.comparison.sites = names.chain(unnamed).map(reach).collect();
        world
    }

    fn add(&mut self, side: Side, path: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let source = Source::new(RepoPath::new(path), Ok(text.into()));
        let is_further = path.contains(':');
        let source = if is_further {
            source.at_commit(side.commit().into())
        } else {
            source
        };
        let file = self.sources.add(source);
        let mut root = parse(file, text).documents.remove(0).root;
        // As in a document that Deckhand's `storagePolicy` makes secret.
        if text.contains("storagePolicy: encrypted") {
            let data = Location(pieces(".data")).get_mut(&mut root).unwrap();
            *data = data.clone().into_secret();
            self.secrets.push(data.span);
        }
        self.files.insert((side, path.to_owned()), file);
        self.roots.insert(file, root);
    }

    /// Key from `schema name (layer)`; the schema is needed once.
    pub fn key(&self, text: &str) -> DocKey {
        let (rest, layer) = text.split_once(" (").map_or((text, ""), |(rest, layer)| {
            (rest, layer.trim_end_matches(')'))
        });
        let (schema, name) = rest.split_once(' ').unwrap_or_else(|| {
            let known = self
                .schemas
                .get(rest)
                .map_or("example/Any/v1", String::as_str);
            (known, rest)
        });
        DocKey::new(schema, layer, name)
    }

    fn place(&self, side: Side, path: &str, at: &str) -> Option<(Location, Node)> {
        let file = self.files.get(&(side, path.to_owned()))?;
        let root = &self.roots[file];
        let location = spelled(&Location(pieces(at)), root);
        Some((location.clone(), location.get(root)?.clone()))
    }

    /// Span of a line, counted from one.
    pub fn line(&self, side: Side, path: &str, line: usize) -> Span {
        let file = self.files[&(side, path.to_owned())];
        let source = self.sources.get(file);
        let start = source.lines().start_of(line - 1).unwrap() as usize;
        let text = source.text()[start..].lines().next().unwrap();
        let indent = text.len() - text.trim_start().len();
        Span::new(
            file,
            (start + indent) as u32,
            (start + text.trim_end().len()) as u32,
        )
    }

    /// Sets the schema of documents with these names.
    pub fn schema(&mut self, schema: &str, names: &[&str]) {
        let names = names
            .iter()
            .map(|name| ((*name).to_owned(), schema.to_owned()));
        self.schemas.extend(names);
    }

    /// Adds an edit of a value or key at a path of `data` or `metadata`.
    pub fn edit(&mut self, document: &str, path: &str, at: &str) -> EditId {
        let (part, full) = match at.strip_prefix("metadata") {
            Some(rest) => (Part::Metadata, format!(".metadata{rest}")),
            None => (Part::Data, format!(".data{}", at.trim_end_matches('.'))),
        };
        let sides = [Side::Base, Side::Head].map(|side| self.place(side, path, &full));
        let location = sides[1]
            .as_ref()
            .or(sides[0].as_ref())
            .expect("one side has a value")
            .0
            .clone();
        let text = |it: &Option<(Location, Node)>| {
            let node = it.as_ref()?.1.clone();
            Some(Text {
                at: node.span,
                covers: vec![node.span],
                node: Some(node),
            })
        };
        let kind = if sides.iter().all(Option::is_some) {
            EditKind::Value
        } else {
            EditKind::Key
        };
        let location = Location(location.0[1..].to_vec());
        let (base, head) = (text(&sides[0]), text(&sides[1]));
        self.push(Edit {
            repository: None,
            kind,
            document: self.key(document),
            part,
            location,
            items: Vec::new(),
            base,
            head,
            unlisted: 0,
        })
    }

    /// Adds an edit of a whole document.
    pub fn document_edit(
        &mut self,
        kind: EditKind,
        document: &str,
        base: Option<&str>,
        head: Option<&str>,
    ) -> EditId {
        let text = |side, path: Option<&str>| {
            let at = self.line(side, path?, 1);
            Some(Text {
                at,
                covers: vec![at],
                node: None,
            })
        };
        let (base, head) = (text(Side::Base, base), text(Side::Head, head));
        let (part, location) = (Part::Whole, Location::root());
        self.push(Edit {
            repository: None,
            kind,
            document: self.key(document),
            part,
            location,
            items: Vec::new(),
            base,
            head,
            unlisted: 0,
        })
    }

    /// Moves an edit to a further repository, between its revisions.
    pub fn in_repository(&mut self, edit: EditId, index: usize) {
        self.comparison.edits[edit.index()].edit.repository = Some(index);
    }

    fn push(&mut self, edit: Edit) -> EditId {
        let reach = EditReach {
            edit,
            outputs: 0,
            sites: Vec::new(),
            untouched: 0,
            deployed: DeployedCounts::default(),
            kept: Vec::new(),
            shielded: Vec::new(),
            shields: Vec::new(),
            proof: None,
            idle: None,
        };
        self.comparison.edits.push(reach);
        EditId::at(self.comparison.edits.len() - 1)
    }

    /// Adds a changed output of a site; `file` is where it is written.
    pub fn output(&mut self, site: &str, key: &str, status: Status, file: &str) -> usize {
        let side = if status == Status::Removed {
            Side::Base
        } else {
            Side::Head
        };
        self.comparison.outputs.push(Change {
            site: Some(site).filter(|it| !it.is_empty()).map(Arc::from),
            key: self.key(key),
            renamed_from: None,
            status,
            touched: false,
            deployed: Deployed::default(),
            output: Output {
                base: None,
                head: None,
            },
            at: self.line(side, file, 1),
            data: Vec::new(),
            metadata: Vec::new(),
            edits: Arc::default(),
            places: Vec::new(),
            causes: Vec::new(),
            unexplained: 0,
        });
        self.comparison.outputs.len() - 1
    }

    /// Adds a difference at a path of an output, with the values of both sides at a path of a
    /// source file.
    pub fn differs(&mut self, output: usize, at: &str, file: &str, source: &str) {
        let place = |side| {
            let (found, node) = self.place(side, file, source)?;
            // The path in the output, with the keys as written in the file.
            let mut location = Location(pieces(at));
            if let (Some(last), Some(written)) = (location.0.last_mut(), found.0.last())
                && last == written
            {
                *last = written.clone();
            }
            Some(DiffPlace {
                location,
                key: None,
                node,
            })
        };
        let (base, head) = (place(Side::Base), place(Side::Head));
        assert!(
            base.is_some() || head.is_some(),
            "{source} is missing in {file}"
        );
        self.comparison.outputs[output]
            .data
            .push(Difference::value(base, head));
    }

    /// Adds a cause to an output.
    pub fn cause(&mut self, output: usize, edit: EditId, joint: &[EditId], steps: &[Step<'_>]) {
        let route = steps.iter().map(|(via, document, at, lines)| Hop {
            via: *via,
            document: self.key(document),
            location: (!at.is_empty()).then(|| Location(pieces(at))),
            at: lines
                .iter()
                .map(|(path, line)| self.line(Side::Head, path, *line))
                .collect(),
        });
        let cause = Cause {
            edit,
            joint: joint.to_vec(),
            route: route.collect(),
        };
        self.comparison.outputs[output].causes.push(cause);
    }

    pub fn shield(
        &mut self,
        edit: EditId,
        site: &str,
        key: &str,
        at: &str,
        why: Why,
        by: (&str, usize),
    ) {
        let shield = Shield {
            site: Some(site).filter(|it| !it.is_empty()).map(Arc::from),
            document: self.key(key),
            location: Location(pieces(at)),
            by: self.line(Side::Head, by.0, by.1),
            why,
        };
        let reach = &mut self.comparison.edits[edit.index()];
        if !reach.shielded.contains(&shield.site) {
            reach.shielded.push(shield.site.clone());
        }
        reach.shields.push(shield);
    }

    /// Computes the derived parts: reach of edits, and groups.
    pub fn finish(mut self) -> Self {
        let edited: Vec<FileId> = self
            .comparison
            .edits
            .iter()
            .map(|reach| reach.edit.at().file)
            .collect();
        self.comparison.outputs.sort_by(|left, right| {
            let order = |it: &Change| (it.key.schema.clone(), it.key.name.clone(), it.site.clone());
            order(left).cmp(&order(right))
        });
        for output in &mut self.comparison.outputs {
            output.touched = edited.contains(&output.at.file);
            let mut edits: Vec<EditId> = output.causes.iter().map(|cause| cause.edit).collect();
            edits.sort();
            output.edits = edits.into();
            // Each edit changed every place.
            let are_joint = output.causes.iter().any(|cause| !cause.joint.is_empty());
            let places = output.data.len() + output.metadata.len();
            let causes = PlaceCauses {
                edits: output.edits.clone(),
                are_joint,
            };
            output.places = vec![causes; places.max(1)];
        }
        for (at, reach) in self.comparison.edits.iter_mut().enumerate() {
            for output in &self.comparison.outputs {
                if output.edits.contains(&EditId::at(at)) {
                    reach.outputs += 1;
                    reach.sites.extend(output.site.clone());
                    reach.untouched += usize::from(!edited.contains(&output.at.file));
                }
            }
            reach.sites.sort();
            reach.sites.dedup();
            reach.proof = (reach.outputs > 0).then_some(Proof::Rendered);
        }
        let mut groups: Vec<(String, Group)> = Vec::new();
        for (index, output) in self.comparison.outputs.iter().enumerate() {
            let delta = delta(output);
            match groups.iter_mut().find(|(known, _)| *known == delta) {
                Some((_, group)) => group.outputs.push(index),
                None => groups.push((
                    delta,
                    Group {
                        outputs: vec![index],
                    },
                )),
            }
        }
        self.comparison.groups = groups.into_iter().map(|(_, group)| group).collect();
        self
    }

    pub fn view(&self) -> View<'_> {
        View::new(&self.sources, &self.secrets, &[])
    }

    pub fn report(&self) -> Report {
        let findings = self.findings.as_ref();
        let name = "treasuremap".to_owned();
        let consequences = Consequences::default();
        let run = ReportInput {
            repository: Some(ReportedRepository {
                name,
                ..ReportedRepository::default()
            }),
            repositories: &self.repositories,
            outputs: self.outputs,
            timing: Timing::new(Duration::from_millis(210), None),
            ..ReportInput::of_comparison(
                self.sides.clone(),
                &self.comparison,
                &consequences,
                findings,
            )
        };
        Report::new(run, &self.view())
    }

    pub fn full(&self, style: TerminalStyle, look: TerminalOptions) -> String {
        saved::check_report(&self.report());
        self.written(Format::Full, look, style)
    }

    pub fn at(&self, width: usize) -> String {
        self.full(plain(width), LOOK)
    }

    pub fn brief(&self) -> String {
        self.written(Format::Concise, LOOK, plain(80))
    }

    pub fn json(&self) -> String {
        saved::json(&self.report())
    }

    fn written(&self, format: Format, look: TerminalOptions, style: TerminalStyle) -> String {
        let mut out = Vec::new();
        format
            .write(&self.report(), (look, &style), RULES, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }
}

pub const LOOK: TerminalOptions = TerminalOptions {
    listing: FindingFilter {
        all: false,
        ignored: false,
    },
    limit: TerminalOptions::DEFAULT_LIMIT,
    detail: Detail::Usual,
};

fn sides() -> model::ReportedComparison {
    let sides = model::ReportedComparison::of_kinds(SideKind::Commit, SideKind::Worktree);
    model::ReportedComparison {
        base: model::ReportedSide {
            commit: Some("fca290a1b2c3d4e5f60718293a4b5c6d7e8f9012".into()),
            name: "main".into(),
            ..sides.base
        },
        chosen_by: "since".into(),
        reason: "merge-base of main and HEAD".into(),
        edited_files: 1,
        linted: false,
        ..sides
    }
}

/// Summary of how an output changed; outputs are grouped by it.
fn delta(output: &Change) -> String {
    let side = |place: &Option<DiffPlace>| place.as_ref().map(|it| canonical(&it.node));
    let differences = output.data.iter().chain(&output.metadata);
    let differences: Vec<String> = differences
        .map(|it| {
            format!(
                "{} {:?} {:?}",
                it.location(),
                side(&it.base),
                side(&it.head)
            )
        })
        .collect();
    format!(
        "{} {} {:?} {differences:?}",
        output.key.schema, output.key.name, output.status
    )
}

/// Parts of a path such as `.a.b[0]`; keys must not contain dots or brackets.
pub fn pieces(path: &str) -> Vec<Piece> {
    let span = Span::point(some_file(), 0);
    let parts = path.split(['.', '[']).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.strip_suffix(']') {
            Some(index) => Piece::Index(index.parse().unwrap()),
            None => Piece::Key(Key::string(part, span)),
        })
        .collect()
}

fn some_file() -> FileId {
    SourceMap::new().upcoming()
}

/// Location with its keys as written in `root`.
fn spelled(location: &Location, root: &Node) -> Location {
    let mut node = Some(root);
    let pieces = location.0.iter().map(|piece| {
        let entry = match (node, piece) {
            (Some(here), Piece::Key(key)) => here.as_mapping().and_then(|it| it.get_entry(key)),
            (_, _) => None,
        };
        node = node.and_then(|here| Location(vec![piece.clone()]).get(here));
        entry.map_or_else(|| piece.clone(), |(key, _)| Piece::Key(key.clone()))
    });
    Location(pieces.collect())
}
