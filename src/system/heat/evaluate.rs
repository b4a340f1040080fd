//! Evaluation of groups on data, by a joint walk of schema and data (D1 to D4, D8 to D10).

use std::collections::HashMap;
use std::sync::Arc;

use super::definition::{Block, GroupOperand, OperandTarget, PropertyGroup, PropertyPath};
use super::shape::ShapeId;
use super::version::Versions;
use super::{GroupOperator, Groups};
use crate::source::Span;
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Key, Node};

/// A violation of a group by a mapping.
#[derive(Clone, Debug)]
pub struct GroupViolation {
    /// Kind of the violation.
    pub breach: Breach,
    /// Name of the group.
    pub group: Arc<str>,
    /// Location of the group.
    pub(crate) span: Span,
    /// Location of the mapping in the data.
    pub at: Location,
    /// Operands involved; see [`Breach`].
    pub operands: Vec<ShownOperand>,
    /// Whether the finding reveals keys of a secret mapping.
    pub(crate) reveals_secret: bool,
}

/// An operand of a finding.
#[derive(Clone, Debug)]
pub struct ShownOperand {
    /// A dotted path, `property_groups.NAME`, or `op(a, b)`.
    pub text: String,
    /// Locations of the values given for it, up to a limit.
    pub(crate) places: Vec<Location>,
}

/// Kinds of violations, each with the operands that are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// Not all are true; reports the false ones.
    And,
    /// None is true; reports all.
    Or,
    /// None is true, but exactly one is required; reports all.
    XorNone,
    /// Several are true, but exactly one is required; reports the true ones.
    XorMany,
    /// Several are true, but at most one is allowed; reports the true ones.
    AtMostOne,
    /// The first is true without all others; reports the first and the false ones.
    DependsOn,
    /// The current version does not support the given properties; reports their paths.
    UnsupportedVersion {
        /// The current version.
        present: String,
        /// The plugin, if it has a name.
        plugin: Option<Arc<str>>,
        /// Description of the supported versions.
        supported: String,
        /// The last supported version of a list, if the current version is later.
        later_than: Option<String>,
    },
    /// The evaluation exceeded its limit; reports no operands.
    Unfinished,
}

impl Breach {
    /// Name in `heat-property-groups.md` 4.
    pub fn code(&self) -> &'static str {
        match self {
            Breach::And => "and",
            Breach::Or => "or",
            Breach::XorNone => "xor-none",
            Breach::XorMany => "xor-many",
            Breach::AtMostOne => "at-most-one",
            Breach::DependsOn => "depends_on",
            Breach::UnsupportedVersion { .. } => "unsupported-version",
            Breach::Unfinished => "unfinished",
        }
    }
}

/// Violations by `data`; see [`Groups::findings`].
pub(super) fn findings(groups: &Groups, data: &Node, versions: &Versions) -> Vec<GroupViolation> {
    let mut walk = DataWalk {
        groups,
        versions,
        active: groups
            .blocks
            .iter()
            .map(|block| active(block, versions))
            .collect(),
        here: Location::root(),
        left: Groups::MAX_WORK,
        found: Vec::new(),
    };
    if walk.node(vec![groups.top], data, false).is_none() {
        walk.found.push(unfinished(groups, &walk.here));
    }
    walk.found
}

fn unfinished(groups: &Groups, at: &Location) -> GroupViolation {
    let block = &groups.blocks[0];
    let span = block
        .groups
        .first()
        .map_or(groups.kept[0].span, |group| group.span);
    GroupViolation {
        breach: Breach::Unfinished,
        group: block
            .groups
            .first()
            .map_or_else(|| "".into(), |group| group.name.clone()),
        span,
        at: at.clone(),
        operands: Vec::new(),
        reveals_secret: false,
    }
}

/// Whether each body is active with these versions (D10): its gate accepts them, and an operand
/// remains, for `depends_on` the first.
fn active(block: &Block, versions: &Versions) -> Vec<bool> {
    let mut known = vec![None; block.bodies.len()];
    for group in block.groups.iter().filter(|group| group.is_usable) {
        is_active(block, versions, group.body, &mut known);
    }
    known
        .into_iter()
        .map(|known| known.unwrap_or(false))
        .collect()
}

/// Recursion is bounded by the depth limit, and usable groups have no cycles.
fn is_active(
    block: &Block,
    versions: &Versions,
    body: usize,
    known: &mut Vec<Option<bool>>,
) -> bool {
    if let Some(known) = known[body] {
        return known;
    }
    let of = &block.bodies[body];
    let is_open = of
        .gate
        .as_ref()
        .is_none_or(|gate| gate.rejects(versions).is_none());
    let counts: Vec<bool> = of
        .operands
        .iter()
        .map(|operand| match operand.target {
            Some(OperandTarget::Path(_)) => true,
            Some(OperandTarget::Group(group)) => {
                is_active(block, versions, block.groups[group].body, known)
            }
            Some(OperandTarget::Nested(nested)) => is_active(block, versions, nested, known),
            None => false,
        })
        .collect();
    let is_left = match of.operator {
        Some(GroupOperator::DependsOn) => counts.first() == Some(&true),
        Some(
            GroupOperator::And | GroupOperator::Or | GroupOperator::Xor | GroupOperator::AtMostOne,
        )
        | None => counts.contains(&true),
    };
    known[body] = Some(is_open && is_left);
    is_open && is_left
}

struct DataWalk<'a> {
    groups: &'a Groups,
    versions: &'a Versions,
    /// Whether each body is active, by block.
    active: Vec<Vec<bool>>,
    /// Current location in the data.
    here: Location,
    /// Number of remaining steps.
    left: u64,
    found: Vec<GroupViolation>,
}

/// A result; `None` if the limit is exceeded.
type WithinLimit<T> = Option<T>;

impl DataWalk<'_> {
    /// Evaluates `data` with all shapes that describe it. Recursion is bounded by the nesting limit
    /// of rendered documents.
    fn node(&mut self, shapes: Vec<ShapeId>, data: &Node, in_secret: bool) -> WithinLimit<()> {
        let in_secret = in_secret || data.secret;
        let shapes = self.groups.shapes.all_of(shapes);
        for shape in &shapes {
            self.spend_step()?;
            for block in &self.groups.placed[*shape] {
                self.block(*block, data, in_secret)?;
            }
        }
        for ChildValue {
            piece,
            node,
            shapes,
        } in self.below(&shapes, data)?
        {
            self.here.0.push(piece);
            self.node(shapes, node, in_secret)?;
            self.here.0.pop();
        }
        Some(())
    }

    /// Values inside `data` that may have a block, each once, with all shapes that describe it in
    /// the order in which they lead to it.
    fn below<'d>(
        &mut self,
        shapes: &[ShapeId],
        data: &'d Node,
    ) -> WithinLimit<Vec<ChildValue<'d>>> {
        let mut below: Vec<ChildValue<'d>> = Vec::new();
        let mut known: HashMap<Piece, usize> = HashMap::new();
        for shape in shapes.iter().filter(|shape| self.groups.leads[**shape]) {
            for inside in self.groups.shapes.inside(*shape, data) {
                self.spend_step()?;
                if !self.groups.leads[inside.shape] {
                    continue;
                }
                let index = *known.entry(inside.piece.clone()).or_insert(below.len());
                match below.get_mut(index) {
                    Some(value) => value.shapes.push(inside.shape),
                    None => {
                        let shapes = vec![inside.shape];
                        below.push(ChildValue {
                            piece: inside.piece,
                            node: inside.node,
                            shapes,
                        });
                    }
                }
            }
        }
        Some(below)
    }

    fn block(&mut self, block: usize, data: &Node, in_secret: bool) -> WithinLimit<()> {
        if data.as_mapping().is_none() {
            return Some(());
        }
        let groups = self.groups;
        let of = &groups.blocks[block];
        for group in of.groups.iter().filter(|group| group.is_usable) {
            let mut one = GroupCheck {
                block: of,
                group,
                active: &self.active[block],
                versions: self.versions,
                in_secret,
                known: HashMap::new(),
                left: &mut self.left,
            };
            let top = PathMatch {
                node: data,
                at: self.here.clone(),
                passed: 0,
            };
            one.gates(group.body, &top, &mut self.found)?;
            one.assertion(&top, &mut self.found)?;
        }
        Some(())
    }

    fn spend_step(&mut self) -> WithinLimit<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }
}

/// A value and the shapes that describe it.
struct ChildValue<'d> {
    piece: Piece,
    node: &'d Node,
    shapes: Vec<ShapeId>,
}

/// A mapping that a group applies to.
#[derive(Clone)]
struct PathMatch<'d> {
    node: &'d Node,
    at: Location,
    /// Number of path parts from the block to the mapping.
    passed: usize,
}

/// Check of one group on one mapping.
struct GroupCheck<'a> {
    block: &'a Block,
    group: &'a PropertyGroup,
    active: &'a [bool],
    versions: &'a Versions,
    in_secret: bool,
    /// Cached truth of bodies, by the addresses of items and the path parts to them.
    known: HashMap<(usize, usize, usize), bool>,
    left: &'a mut u64,
}

impl<'a> GroupCheck<'a> {
    fn spend_step(&mut self) -> WithinLimit<()> {
        *self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Reports operands that the gates of a body and its nested bodies reject.
    fn gates(
        &mut self,
        body: usize,
        top: &PathMatch<'_>,
        found: &mut Vec<GroupViolation>,
    ) -> WithinLimit<()> {
        let of = &self.block.bodies[body];
        if let Some(gate) = &of.gate
            && let Some(present) = gate.rejects(self.versions)
        {
            let breach = Breach::UnsupportedVersion {
                present: present.text().to_owned(),
                plugin: gate.plugin.clone(),
                supported: gate.describe(),
                later_than: gate.last_before(present).map(str::to_owned),
            };
            for item in self.items(body, top)? {
                let mut operands = Vec::new();
                for path in &of.leaves {
                    let path = &self.block.paths[*path];
                    let places = self.places(path, &item)?;
                    if !places.is_empty() {
                        operands.push(ShownOperand {
                            text: path.shown(),
                            places,
                        });
                    }
                }
                if !operands.is_empty() {
                    found.push(self.finding(breach.clone(), body, &item, operands)?);
                }
            }
        }
        for operand in &of.operands {
            if let Some(OperandTarget::Nested(nested)) = operand.target {
                self.gates(nested, top, found)?;
            }
        }
        Some(())
    }

    /// Reports items that violate an asserted group (D1).
    fn assertion(
        &mut self,
        top: &PathMatch<'_>,
        found: &mut Vec<GroupViolation>,
    ) -> WithinLimit<()> {
        let PropertyGroup {
            body,
            assert,
            is_referred,
            ..
        } = *self.group;
        let Some(operator) = self.block.bodies[body].operator else {
            return Some(());
        };
        if !assert.unwrap_or(!is_referred) || !self.active[body] {
            return Some(());
        }
        for item in self.items(body, top)? {
            let truths = self.truths(body, &item)?;
            let Some((breach, concerned)) = breach(operator, &truths) else {
                continue;
            };
            let mut operands = Vec::new();
            for (operand, _) in concerned {
                let target = operand
                    .target
                    .expect("only resolved operands are evaluated");
                let places = self.given(target, &item)?;
                operands.push(ShownOperand {
                    text: self.block.shown(target),
                    places,
                });
            }
            found.push(self.finding(breach, body, &item, operands)?);
        }
        Some(())
    }

    fn finding(
        &mut self,
        breach: Breach,
        body: usize,
        item: &PathMatch<'_>,
        operands: Vec<ShownOperand>,
    ) -> WithinLimit<GroupViolation> {
        let mut reveals_secret = self.in_secret || item.node.secret;
        for leaf in &self.block.bodies[body].leaves {
            reveals_secret = reveals_secret || self.is_in_secret(&self.block.paths[*leaf], item)?;
        }
        Some(GroupViolation {
            breach,
            group: self.group.name.clone(),
            span: self.group.span,
            at: item.at.clone(),
            operands,
            reveals_secret,
        })
    }

    /// Active operands, and whether each is true for an item.
    fn truths(
        &mut self,
        body: usize,
        item: &PathMatch<'_>,
    ) -> WithinLimit<Vec<(&'a GroupOperand, bool)>> {
        let mut truths = Vec::new();
        for operand in &self.block.bodies[body].operands {
            let Some(target) = operand.target else {
                continue;
            };
            let truth = match target {
                OperandTarget::Path(path) => {
                    !self.places(&self.block.paths[path], item)?.is_empty()
                }
                OperandTarget::Group(group) => {
                    let inner = self.block.groups[group].body;
                    if !self.active[inner] {
                        continue;
                    }
                    self.is_true_for_some(inner, item)?
                }
                OperandTarget::Nested(inner) => {
                    if !self.active[inner] {
                        continue;
                    }
                    self.is_true_for_some(inner, item)?
                }
            };
            truths.push((operand, truth));
        }
        Some(truths)
    }

    /// Whether a body is true for any of the items that it iterates over beyond those of its user
    /// (D9).
    fn is_true_for_some(&mut self, body: usize, item: &PathMatch<'_>) -> WithinLimit<bool> {
        for item in self.items(body, item)? {
            if self.is_true(body, &item)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn is_true(&mut self, body: usize, item: &PathMatch<'_>) -> WithinLimit<bool> {
        let identity = (body, std::ptr::from_ref(item.node).addr(), item.passed);
        if let Some(known) = self.known.get(&identity) {
            return Some(*known);
        }
        self.spend_step()?;
        let truths = self.truths(body, item)?;
        // A body with only versions is an `or` when used as an operand.
        let operator = self.block.bodies[body]
            .operator
            .unwrap_or(GroupOperator::Or);
        let truth = breach(operator, &truths).is_none();
        self.known.insert(identity, truth);
        Some(truth)
    }

    /// Items that a body applies to, as given by its lift.
    fn items<'d>(&mut self, body: usize, item: &PathMatch<'d>) -> WithinLimit<Vec<PathMatch<'d>>> {
        let of = &self.block.bodies[body];
        if of.lift <= item.passed {
            return Some(vec![item.clone()]);
        }
        let first = of.leaves.first().expect("a lift requires leaves");
        let path = &self.block.paths[*first];
        let mut reached = vec![item.clone()];
        for index in item.passed..of.lift {
            reached = self.step(path, index, reached)?;
        }
        reached.retain(|item| item.node.as_mapping().is_some());
        Some(reached)
    }

    /// Values at the next part of a path, with lists expanded.
    fn step<'d>(
        &mut self,
        path: &PropertyPath,
        index: usize,
        from: Vec<PathMatch<'d>>,
    ) -> WithinLimit<Vec<PathMatch<'d>>> {
        let mut reached = Vec::new();
        for PathMatch { node, at, passed } in from {
            self.spend_step()?;
            let entry = node
                .as_mapping()
                .and_then(|it| it.get_entry(&*path.parts[index]));
            if let Some((key, node)) = entry {
                let at = at.join(Piece::Key(key.clone()));
                reached.push(PathMatch {
                    node,
                    at,
                    passed: passed + 1,
                });
            }
        }
        for _ in 0..path.lists[index] {
            let mut opened = Vec::new();
            for PathMatch { node, at, passed } in reached {
                for (index, node) in node.as_sequence().unwrap_or_default().iter().enumerate() {
                    self.spend_step()?;
                    opened.push(PathMatch {
                        node,
                        at: at.join(Piece::Index(index)),
                        passed,
                    });
                }
            }
            reached = opened;
        }
        Some(reached)
    }

    /// Locations of the values given for a path (D3), up to a limit.
    fn places(&mut self, path: &PropertyPath, item: &PathMatch<'_>) -> WithinLimit<Vec<Location>> {
        let mut reached = vec![item.clone()];
        let last = path.parts.len() - 1;
        for index in item.passed..last {
            reached = self.step(path, index, reached)?;
        }
        let mut places = Vec::new();
        for PathMatch { node, at, .. } in reached {
            self.spend_step()?;
            let Some((key, value)) = entry_of(node, &path.parts[last]) else {
                continue;
            };
            if path.is_given_by(&value.value) && places.len() < MAX_PLACES {
                places.push(at.join(Piece::Key(key.clone())));
            }
        }
        Some(places)
    }

    /// Locations of the values given for an operand, up to a limit.
    fn given(&mut self, target: OperandTarget, item: &PathMatch<'_>) -> WithinLimit<Vec<Location>> {
        let leaves = match target {
            OperandTarget::Path(path) => return self.places(&self.block.paths[path], item),
            OperandTarget::Group(group) => &self.block.bodies[self.block.groups[group].body].leaves,
            OperandTarget::Nested(body) => &self.block.bodies[body].leaves,
        };
        let mut places = Vec::new();
        for leaf in leaves {
            places.extend(self.places(&self.block.paths[*leaf], item)?);
            if places.len() >= MAX_PLACES {
                break;
            }
        }
        places.truncate(MAX_PLACES);
        Some(places)
    }

    /// Whether a path leads through a secret mapping or list, or tests the value of a secret.
    fn is_in_secret(&mut self, path: &PropertyPath, item: &PathMatch<'_>) -> WithinLimit<bool> {
        let mut reached = vec![item.clone()];
        for index in item.passed..path.parts.len() - 1 {
            reached = self.step(path, index, reached)?;
            if reached.iter().any(|item| item.node.secret) {
                return Some(true);
            }
        }
        let last = path.parts.len() - 1;
        let tests_value = !path.values.is_empty();
        let ends = reached
            .iter()
            .filter_map(|item| entry_of(item.node, &path.parts[last]));
        Some(tests_value && ends.into_iter().any(|(_, value)| value.secret))
    }
}

/// Maximum number of values reported for one operand.
const MAX_PLACES: usize = 8;

fn entry_of<'d>(node: &'d Node, name: &str) -> Option<(&'d Key, &'d Node)> {
    node.as_mapping()?.get_entry(name)
}

/// An operand, and whether it is true.
type Truth<'a> = (&'a GroupOperand, bool);

/// The violation of an operator by its operands, and the operands to report (D2, D4). An operator
/// without operands is never violated.
fn breach<'a>(operator: GroupOperator, truths: &[Truth<'a>]) -> Option<(Breach, Vec<Truth<'a>>)> {
    let with_truth = |wanted: bool| -> Vec<Truth<'a>> {
        truths
            .iter()
            .filter(|(_, truth)| *truth == wanted)
            .copied()
            .collect()
    };
    let are_true = with_truth(true);
    let are_false = with_truth(false);
    match operator {
        GroupOperator::And => (!are_false.is_empty()).then_some((Breach::And, are_false)),
        GroupOperator::Or => are_true.is_empty().then_some((Breach::Or, are_false)),
        GroupOperator::Xor => match are_true.len() {
            0 => Some((Breach::XorNone, are_false)),
            1 => None,
            _ => Some((Breach::XorMany, are_true)),
        },
        GroupOperator::AtMostOne => (are_true.len() > 1).then_some((Breach::AtMostOne, are_true)),
        GroupOperator::DependsOn => {
            let (first, _) = truths.split_first().filter(|((_, truth), _)| *truth)?;
            let reported = std::iter::once(*first).chain(are_false);
            (are_true.len() < truths.len()).then(|| (Breach::DependsOn, reported.collect()))
        }
    }
}
