//! Resolution of operands to properties of the schema or groups (D6, D7), and of usable groups
//! (D11).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::definition::{
    Block, GroupFault, GroupProblem, InvalidGroup, OperandSyntax, OperandTarget, PropertyGroup,
    PropertyPath, by_name,
};
use super::shape::{PropertyStep, ShapeId, Shapes};
use super::{GroupName, Groups, KEYWORD};
use crate::near::nearest;
use crate::source::Span;
use crate::yaml::Value;

/// Resolves the operands of `block`, where `top` is the shape of the mapping that it applies to.
/// Adds problems, and determines whether each group can be used.
pub(super) fn resolve(
    block: &mut Block,
    top: ShapeId,
    shapes: &Shapes,
    problems: &mut Vec<GroupProblem>,
) {
    let names = by_name(&block.groups);
    let mut resolver = Resolver {
        names,
        top,
        shapes,
        problems,
        known: HashMap::new(),
        group: 0,
    };
    for group in 0..block.groups.len() {
        resolver.group = group;
        let before = resolver.errors();
        resolver.body(block, block.groups[group].body);
        block.groups[group].is_broken |= resolver.errors() > before;
    }
    let references = references(block);
    for referred in references.iter().flatten() {
        block.groups[*referred].is_referred = true;
    }
    for cycle in cycles(&references) {
        add_cycle_problem(block, &cycle, problems);
    }
    for group in topological_order(&references) {
        determine_usability(block, group, &references, problems);
    }
}

struct Resolver<'a> {
    names: HashMap<GroupName, usize>,
    top: ShapeId,
    shapes: &'a Shapes,
    problems: &'a mut Vec<GroupProblem>,
    /// Known paths, by their parts and values.
    known: HashMap<(Vec<Arc<str>>, Vec<String>), usize>,
    /// Index of the current group.
    group: usize,
}

impl Resolver<'_> {
    fn errors(&self) -> usize {
        self.problems
            .iter()
            .filter(|problem| !problem.fault.is_warning())
            .count()
    }

    fn add_problem(&mut self, block: &Block, span: Span, fault: impl Into<GroupFault>) {
        let group = Some(block.groups[self.group].name.clone());
        self.problems.push(GroupProblem {
            span,
            block: block.location.clone(),
            group,
            fault: fault.into(),
        });
    }

    /// Recursion is bounded by the YAML reader's nesting limit.
    fn body(&mut self, block: &mut Block, body: usize) {
        for index in 0..block.bodies[body].operands.len() {
            let span = block.bodies[body].operands[index].span;
            let written = std::mem::replace(
                &mut block.bodies[body].operands[index].written,
                OperandSyntax::Broken,
            );
            let target = match &written {
                OperandSyntax::Word(word) => self.report(block, span, word),
                OperandSyntax::Reference(name) => self.reference(block, span, name),
                OperandSyntax::Path(parts) => self.path(block, span, parts, &[]),
                OperandSyntax::Condition(parts, values) => self.path(block, span, parts, values),
                OperandSyntax::Nested(nested) => {
                    self.body(block, *nested);
                    Some(OperandTarget::Nested(*nested))
                }
                OperandSyntax::Broken => None,
            };
            let operand = &mut block.bodies[body].operands[index];
            (operand.written, operand.target) = (written, target);
        }
        self.report_duplicates(block, body);
    }

    /// Reports duplicate operands of a list.
    fn report_duplicates(&mut self, block: &Block, body: usize) {
        let mut seen: HashMap<String, Span> = HashMap::new();
        for operand in &block.bodies[body].operands {
            let Some(target) = operand.target else {
                continue;
            };
            let shown = block.shown(target);
            // Paths whose parts contain dots can have the same text.
            let identity = format!("{shown} {}", identity(block, target));
            match seen.get(&identity) {
                Some(first) => {
                    let fault = GroupFault::DuplicateOperand {
                        operand: shown,
                        first: *first,
                    };
                    self.add_problem(block, operand.span, fault);
                }
                None => {
                    seen.insert(identity, operand.span);
                }
            }
        }
    }

    fn report(&mut self, block: &mut Block, span: Span, word: &str) -> Option<OperandTarget> {
        let group = self.names.get(word).copied();
        let parts = || vec![Arc::from(word)];
        match (self.shapes.step(self.top, word), group) {
            (PropertyStep::Declared(_), group) => {
                if group.is_some() {
                    self.add_problem(
                        block,
                        span,
                        GroupFault::AmbiguousName {
                            name: word.to_owned(),
                        },
                    );
                }
                self.path(block, span, &parts(), &[])
            }
            (_, Some(group)) => Some(OperandTarget::Group(group)),
            (PropertyStep::Undeclared(_), None) => self.path(block, span, &parts(), &[]),
            (PropertyStep::Unknown | PropertyStep::Scalar, None) => {
                let declared = self.shapes.declared(self.top);
                let names = self.names.keys().map(|name| &**name);
                let mut candidates: Vec<&str> = declared.into_iter().chain(names).collect();
                candidates.sort_unstable();
                let near = nearest(word, candidates).map(str::to_owned);
                self.add_problem(
                    block,
                    span,
                    InvalidGroup::UnknownName {
                        name: word.to_owned(),
                        near,
                    },
                );
                None
            }
        }
    }

    fn reference(&mut self, block: &Block, span: Span, name: &str) -> Option<OperandTarget> {
        if let Some(group) = self.names.get(name) {
            return Some(OperandTarget::Group(*group));
        }
        let mut names: Vec<&str> = self.names.keys().map(|name| &**name).collect();
        names.sort_unstable();
        let near = nearest(name, names).map(str::to_owned);
        self.add_problem(
            block,
            span,
            InvalidGroup::UnknownGroup {
                name: name.to_owned(),
                near,
            },
        );
        None
    }

    fn path(
        &mut self,
        block: &mut Block,
        span: Span,
        parts: &[Arc<str>],
        values: &[Value],
    ) -> Option<OperandTarget> {
        let identity = (
            parts.to_vec(),
            values.iter().map(|it| format!("{it:?}")).collect(),
        );
        if let Some(known) = self.known.get(&identity) {
            return Some(OperandTarget::Path(*known));
        }
        match self.lists(parts) {
            Ok(lists) => {
                let id = block.paths.len();
                let parts = parts.to_vec();
                let values = values.to_vec();
                block.paths.push(PropertyPath {
                    parts,
                    lists,
                    values,
                });
                self.known.insert(identity, id);
                Some(OperandTarget::Path(id))
            }
            Err(fault) => {
                self.add_problem(block, span, fault);
                None
            }
        }
    }

    /// Number of lists after each part of a path (D7, D9).
    fn lists(&self, parts: &[Arc<str>]) -> Result<Vec<usize>, InvalidGroup> {
        let path = || parts.join(".");
        let mut lists = Vec::with_capacity(parts.len());
        let mut here = Some(self.top);
        for (index, part) in parts.iter().enumerate() {
            // Undescribed data is not known to be a list.
            let Some(shape) = here else {
                lists.push(0);
                continue;
            };
            let next = match self.shapes.step(shape, part) {
                PropertyStep::Declared(next) => Some(next),
                PropertyStep::Undeclared(next) => next,
                PropertyStep::Unknown => {
                    let near = nearest(part, self.shapes.declared(shape)).map(str::to_owned);
                    let part = part.to_string();
                    return Err(InvalidGroup::UnknownProperty {
                        path: path(),
                        part,
                        near,
                    });
                }
                PropertyStep::Scalar => {
                    let part = part.to_string();
                    return Err(InvalidGroup::PathThroughScalar { path: path(), part });
                }
            };
            let Some(next) = next else {
                lists.push(0);
                here = None;
                continue;
            };
            let unwrapped = self.shapes.unwrapped(next);
            if unwrapped.through_tuple && index + 1 < parts.len() {
                return Err(InvalidGroup::PathThroughTuple { path: path() });
            }
            lists.push(unwrapped.lists);
            here = unwrapped.inner;
        }
        Ok(lists)
    }
}

impl Block {
    /// Text of an operand in findings.
    pub(super) fn shown(&self, target: OperandTarget) -> String {
        match target {
            OperandTarget::Path(path) => self.paths[path].shown(),
            OperandTarget::Group(group) => format!("{KEYWORD}.{}", self.groups[group].name),
            OperandTarget::Nested(body) => {
                let body = &self.bodies[body];
                let operator = body.operator.map_or("or", super::GroupOperator::as_str);
                let targets = body.operands.iter().filter_map(|operand| operand.target);
                let operands: Vec<String> = targets.map(|target| self.shown(target)).collect();
                format!("{operator}({})", operands.join(", "))
            }
        }
    }
}

/// Key that is unique to an operand.
fn identity(block: &Block, target: OperandTarget) -> String {
    match target {
        OperandTarget::Path(path) => format!("p{path}"),
        OperandTarget::Group(group) => format!("g{group}"),
        OperandTarget::Nested(body) => {
            let targets = block.bodies[body]
                .operands
                .iter()
                .map(|operand| operand.target);
            let inner: Vec<String> = targets
                .map(|target| target.map_or_else(|| "?".to_owned(), |it| identity(block, it)))
                .collect();
            // A gate makes the operand distinct.
            let gate = if block.bodies[body].gate.is_some() {
                body.to_string()
            } else {
                String::new()
            };
            format!("[{}]{gate}", inner.join(" "))
        }
    }
}

/// The groups that each group refers to, in order and without duplicates.
fn references(block: &Block) -> Vec<Vec<usize>> {
    block
        .groups
        .iter()
        .map(|group| {
            let mut found = Vec::new();
            collect(block, group.body, &mut found);
            let mut seen = HashSet::new();
            found.retain(|group| seen.insert(*group));
            found
        })
        .collect()
}

fn collect(block: &Block, body: usize, found: &mut Vec<usize>) {
    for operand in &block.bodies[body].operands {
        match operand.target {
            Some(OperandTarget::Group(group)) => found.push(group),
            Some(OperandTarget::Nested(nested)) => collect(block, nested, found),
            Some(OperandTarget::Path(_)) | None => {}
        }
    }
}

/// Cycles of references between groups, each starting with the group declared first. Of cycles that
/// share edges, only those found first are returned, in the order of discovery.
fn cycles(references: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = CycleSearch {
        references,
        is_done: vec![false; references.len()],
        found: Vec::new(),
    };
    for group in 0..references.len() {
        search.visit(group, &mut Vec::new());
    }
    search.found
}

struct CycleSearch<'a> {
    references: &'a [Vec<usize>],
    is_done: Vec<bool>,
    found: Vec<Vec<usize>>,
}

impl CycleSearch<'_> {
    /// Recursion is bounded by the number of groups.
    fn visit(&mut self, group: usize, route: &mut Vec<usize>) {
        if let Some(start) = route.iter().position(|passed| *passed == group) {
            let mut cycle = route[start..].to_vec();
            let first = cycle
                .iter()
                .enumerate()
                .min_by_key(|(_, group)| **group)
                .map_or(0, |(index, _)| index);
            cycle.rotate_left(first);
            self.found.push(cycle);
            return;
        }
        if self.is_done[group] {
            return;
        }
        route.push(group);
        for next in &self.references[group] {
            self.visit(*next, route);
        }
        route.pop();
        self.is_done[group] = true;
    }
}

fn add_cycle_problem(block: &mut Block, cycle: &[usize], problems: &mut Vec<GroupProblem>) {
    let ends = cycle.iter().chain(cycle.first());
    let names = ends
        .map(|group| block.groups[*group].name.clone())
        .collect();
    let first = &block.groups[cycle[0]];
    problems.push(GroupProblem {
        span: first.span,
        block: block.location.clone(),
        group: Some(first.name.clone()),
        fault: InvalidGroup::Cycle { names }.into(),
    });
    for group in cycle {
        block.groups[*group].is_broken = true;
    }
}

/// Topological order of the groups, each after those it refers to; groups in cycles are in
/// arbitrary positions.
fn topological_order(references: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(references.len());
    let mut seen = vec![false; references.len()];
    for group in 0..references.len() {
        let mut open = vec![(group, 0)];
        while let Some((group, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut seen[group], true) {
                continue;
            }
            match references[group].get(next) {
                Some(referred) => {
                    open.push((group, next + 1));
                    if !seen[*referred] {
                        open.push((*referred, 0));
                    }
                }
                None => order.push(group),
            }
        }
    }
    order
}

/// Determines whether a group can be used, and its leaves.
fn determine_usability(
    block: &mut Block,
    group: usize,
    references: &[Vec<usize>],
    problems: &mut Vec<GroupProblem>,
) {
    let PropertyGroup {
        is_broken, body, ..
    } = block.groups[group];
    if is_broken
        || !references[group]
            .iter()
            .all(|referred| block.groups[*referred].is_usable)
    {
        return;
    }
    let depth = depth(block, body);
    leaves(block, body);
    let total: usize = block.bodies.iter().map(|body| body.leaves.len()).sum();
    if depth > Groups::MAX_DEPTH || total > MAX_LEAVES {
        problems.push(GroupProblem {
            span: block.groups[group].span,
            block: block.location.clone(),
            group: Some(block.groups[group].name.clone()),
            fault: InvalidGroup::TooLarge.into(),
        });
        return;
    }
    block.groups[group].is_usable = true;
    block.groups[group].depth = depth;
}

/// Maximum number of paths used by all groups of a block, with references followed.
const MAX_LEAVES: usize = 1_000_000;

fn depth(block: &Block, body: usize) -> usize {
    let inner = block.bodies[body]
        .operands
        .iter()
        .map(|operand| match operand.target {
            Some(OperandTarget::Group(group)) => block.groups[group].depth,
            Some(OperandTarget::Nested(nested)) => depth(block, nested),
            Some(OperandTarget::Path(_)) | None => 0,
        });
    1 + inner.max().unwrap_or(0)
}

/// Computes the leaves of a body and its nested bodies, and its lift.
fn leaves(block: &mut Block, body: usize) {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for index in 0..block.bodies[body].operands.len() {
        let of_operand = match block.bodies[body].operands[index].target {
            Some(OperandTarget::Path(path)) => vec![path],
            Some(OperandTarget::Group(group)) => {
                block.bodies[block.groups[group].body].leaves.clone()
            }
            Some(OperandTarget::Nested(nested)) => {
                leaves(block, nested);
                block.bodies[nested].leaves.clone()
            }
            None => Vec::new(),
        };
        found.extend(of_operand.into_iter().filter(|path| seen.insert(*path)));
    }
    block.bodies[body].lift = lift(&block.paths, &found);
    block.bodies[body].leaves = found;
}

/// Length of the longest proper prefix of all paths that ends at a list.
fn lift(paths: &[PropertyPath], leaves: &[usize]) -> usize {
    let Some((first, others)) = leaves.split_first() else {
        return 0;
    };
    let first = &paths[*first];
    let mut shared = first.parts.len() - 1;
    for other in others {
        let other = &paths[*other].parts;
        let same = first
            .parts
            .iter()
            .zip(other)
            .take_while(|(one, other)| one == other)
            .count();
        shared = shared.min(same).min(other.len() - 1);
    }
    (1..=shared)
        .rev()
        .find(|length| first.lists[length - 1] > 0)
        .unwrap_or(0)
}
