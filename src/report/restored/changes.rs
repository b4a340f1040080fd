//! A comparison of a saved report: edits, outputs, routes and what stopped an
//! edit, as those have them who tell people of them.
//!
//! Of values there are those of edits, which are shown; of what changed in an
//! output only the places.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::texts::{NOWHERE, Position, Texts};
use super::value;
use crate::compare::reach::{Comparison, EditReach, Group, Shield, SiteReach};
use crate::compare::{Cause, Change, Hop, Output};
use crate::edit::{Edit, EditId, Text};
use crate::report::json::{
    CauseForm, ChangeForm, ComparisonForm, DocumentName, EditForm, ExtentForm, GroupForm,
    OutputForm, PlaceForm, Report, RouteForm, ShieldForm, SideForm, Unreadable, ValueForm, words,
};
use crate::report::{Extent, SideText, Sides};
use crate::source::DocKey;
use crate::yaml::diff::{Difference, Kind, Place};
use crate::yaml::path::{Item, Location, Piece};
use crate::yaml::{Key, Node, Value};

/// The two sides; what people call the repository is not kept.
///
/// # Errors
/// Where it has words that reports do not have.
pub(super) fn sides(form: &ComparisonForm) -> Result<Sides, Unreadable> {
    Ok(Sides {
        repository: String::new(),
        nested_at: form.nested_at.clone(),
        from: side(&form.from)?,
        to: side(&form.to)?,
        chosen_by: form.chosen_by.clone(),
        reason: form.reason.clone(),
        shallow: form.shallow,
        edited_files: form.edited_files,
        extent: match form.extent {
            ExtentForm::Whole => Extent::Whole,
            ExtentForm::Asked => Extent::Asked,
        },
    })
}

fn side(form: &SideForm) -> Result<SideText, Unreadable> {
    Ok(SideText {
        kind: words::side_kind(&form.kind)?,
        commit: form.sha.clone(),
        tree: form.tree.clone(),
        name: form.name.clone(),
    })
}

/// What changed, and why.
///
/// # Errors
/// Where it has words that reports do not have.
pub(super) fn comparison(report: &Report, texts: &Texts) -> Result<Comparison, Unreadable> {
    let edits = report.edits.iter().map(|form| edit_reach(form, texts));
    let mut edits: Vec<EditReach> = edits.collect::<Result<_, _>>()?;
    let mut groups: Vec<Group> =
        report.groups.iter().map(|_| Group { outputs: Vec::new() }).collect();
    let mut outputs = Vec::with_capacity(report.outputs.len());
    let routes = routes(report, texts)?;
    let unexplained = unexplained(report);
    for (index, form) in report.outputs.iter().enumerate() {
        let group = form.group.as_deref().and_then(|name| report.group_number(name));
        let causes = form.causes.iter().filter_map(|cause| cause_of(cause, report, &routes));
        let causes: Vec<Cause> = causes.collect();
        for cause in &causes {
            edits[cause.edit.index()].outputs.push(index);
        }
        if let Some(group) = group {
            groups[group].outputs.push(index);
        }
        let group = group.map(|group| &report.groups[group]);
        let unexplained = unexplained.get(&name_of(form)).copied().unwrap_or_default();
        outputs.push(Change { causes, unexplained, ..change(form, group) });
    }
    for form in &report.shields {
        if let Some(edit) = report.edit_number(&form.edit) {
            edits[edit].shields.push(shield(form, texts)?);
        }
    }
    let sites = report.sites.iter().map(|form| SiteReach {
        site: form.site.as_deref().map(Arc::from),
        site_type: form.site_type.as_deref().map(Arc::from),
        base: form.from,
        head: form.to,
    });
    let unlisted = report.truncated.unlisted();
    Ok(Comparison { edits, outputs, groups, sites: sites.collect(), unlisted })
}

/// What an output is known by.
type OutputName<'a> = (Option<&'a str>, &'a str, &'a str, &'a str);

fn name_of(form: &OutputForm) -> OutputName<'_> {
    (form.site.as_deref(), &form.schema, &form.name, &form.layer)
}

/// By output, how many of its differences no edit explains.
fn unexplained(report: &Report) -> BTreeMap<OutputName<'_>, usize> {
    let forms = report.unexplained.iter();
    let named =
        forms.map(|it| ((it.site.as_deref(), &*it.schema, &*it.name, &*it.layer), it.differences));
    named.collect()
}

fn edit_reach(form: &EditForm, texts: &Texts) -> Result<EditReach, Unreadable> {
    let text = |place: &Option<PlaceForm>, value: &Option<ValueForm>| {
        place.as_ref().map(|place| {
            let at = texts.span(&Position::of_place(place));
            let node = value.as_ref().map(|value| value::node(value, at));
            Text { at, covers: vec![at], node }
        })
    };
    let (location, items) = place(&form.pointer, Some(&form.path));
    Ok(EditReach {
        edit: Edit {
            kind: words::edit_kind(&form.kind)?,
            document: key(&form.document),
            part: words::part(&form.part)?,
            location,
            items,
            base: text(&form.at.from, &form.before),
            head: text(&form.at.to, &form.after),
            unlisted: form.unlisted,
        },
        outputs: Vec::new(),
        sites: form.reach.sites.iter().map(|site| Arc::from(&**site)).collect(),
        untouched: form.reach.indirect,
        shields: Vec::new(),
        proof: words::proof(&form.verified)?,
    })
}

fn key(name: &DocumentName) -> DocKey {
    DocKey::new(&*name.schema, &*name.layer, &*name.name)
}

/// An output without its causes, with the places at which its group changed.
fn change(form: &OutputForm, group: Option<&GroupForm>) -> Change {
    let of = |part: &str| {
        let forms = group.into_iter().flat_map(|it| &it.changes);
        forms.filter(|it| it.part == part).map(difference).collect()
    };
    Change {
        site: form.site.as_deref().map(Arc::from),
        key: DocKey::new(&*form.schema, &*form.layer, &*form.name),
        renamed_from: form
            .renamed_from
            .as_deref()
            .map(|name| DocKey::new(&*form.schema, &*form.layer, name)),
        status: form.status.into(),
        at: NOWHERE,
        output: Output { base: None, head: None },
        data: of("data"),
        metadata: of("metadata"),
        causes: Vec::new(),
        unexplained: 0,
    }
}

/// A place at which an output changed; what was and is there is not told of it.
fn difference(form: &ChangeForm) -> Difference {
    let (location, items) = place(&form.pointer, form.path.as_deref());
    let node = Node::new(Value::Null, NOWHERE);
    let place = Place { location, key: None, node };
    Difference {
        kind: match &*form.op {
            "reorder" => Kind::Order { key: "".into(), indexes: [Vec::new(), Vec::new()] },
            _ => Kind::Value,
        },
        items,
        base: (form.op != "add").then(|| place.clone()),
        head: (form.op != "remove").then_some(place),
        unlisted: form.unlisted,
    }
}

/// The routes of a report, in its order.
fn routes(report: &Report, texts: &Texts) -> Result<Vec<Vec<Hop>>, Unreadable> {
    report.routes.iter().map(|route| steps(route, texts)).collect()
}

fn steps(route: &RouteForm, texts: &Texts) -> Result<Vec<Hop>, Unreadable> {
    let hops = route.steps.iter().map(|step| {
        let at = step.at.iter().map(|place| texts.span(&Position::of_place(place)));
        let pointer = step.pointer.as_deref();
        Ok(Hop {
            via: words::via(&step.via)?,
            document: key(&step.document),
            location: pointer.map(|pointer| location(pointer, step.path.as_deref())),
            at: at.collect(),
        })
    });
    hops.collect()
}

/// A cause, if the edit and the route that it names are there.
fn cause_of(form: &CauseForm, report: &Report, routes: &[Vec<Hop>]) -> Option<Cause> {
    let joint = form.joint.iter().filter_map(|name| report.edit_number(name)).map(EditId::at);
    Some(Cause {
        edit: EditId::at(report.edit_number(&form.edit)?),
        joint: joint.collect(),
        route: routes.get(report.route_number(&form.route)?)?.clone(),
    })
}

fn shield(form: &ShieldForm, texts: &Texts) -> Result<Shield, Unreadable> {
    Ok(Shield {
        site: form.site.as_deref().map(Arc::from),
        document: key(&form.by.document),
        location: location(&form.by.pointer, None),
        by: texts.span(&Position::of_stop(&form.by)),
        why: words::why(&form.why)?,
    })
}

/// A place from its pointer. Of the keys and indexes that look alike there, those
/// are taken that read as `path`, where that is known.
fn location(pointer: &str, path: Option<&str>) -> Location {
    place(pointer, path).0
}

/// The same, and the items that are named in `path`.
fn place(pointer: &str, path: Option<&str>) -> (Location, Vec<Item>) {
    let mut rest = path;
    let mut items = Vec::new();
    let tokens = pointer.split('/').skip(1).map(|it| it.replace("~1", "/").replace("~0", "~"));
    let pieces = tokens.enumerate().map(|(at, token)| {
        let candidates = candidates(&token);
        let told = rest.and_then(|path| {
            // The path of an item of the outermost list begins with a dot.
            let path = if at == 0 && path.starts_with(".[") { &path[1..] } else { path };
            if let (Piece::Index(_), Some((item, behind))) = (&candidates[0], item_of(at, path)) {
                items.push(item);
                rest = Some(behind);
                return Some((candidates[0].clone(), behind));
            }
            let told = candidates
                .iter()
                .find_map(|piece| Some((piece.clone(), path.strip_prefix(&piece.to_string())?)));
            rest = told.as_ref().map(|(_, rest)| *rest);
            told
        });
        told.map_or_else(|| candidates[0].clone(), |(piece, _)| piece)
    });
    (Location(pieces.collect()), items)
}

/// The item that a path begins with as `[name=text]`, and the rest of the path.
fn item_of(at: usize, path: &str) -> Option<(Item, &str)> {
    let (key, rest) = text_of(path.strip_prefix('[')?)?;
    let rest = rest.strip_prefix('=')?;
    // A text of digits is in quotes.
    let is_text = rest.starts_with('\'');
    let (name, rest) = text_of(rest)?;
    let number = name.parse().ok().filter(|_| !is_text).map(Value::Int);
    let name = Node::new(number.unwrap_or_else(|| Value::String(name.into())), NOWHERE);
    Some((Item { at, key: key.into(), name }, rest.strip_prefix(']')?))
}

/// The text that a path begins with, in quotes or not, and the rest of the path.
fn text_of(path: &str) -> Option<(String, &str)> {
    let Some(quoted) = path.strip_prefix('\'') else {
        let end = path.find(['=', ']'])?;
        return Some((path[..end].to_owned(), &path[end..]));
    };
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => return Some((text, &quoted[at + 1..])),
            '\\' => text.push(letters.next()?.1),
            other => text.push(other),
        }
    }
    None
}

/// What a part of a pointer can stand for; at least one.
fn candidates(token: &str) -> Vec<Piece> {
    let key = |value| Piece::Key(Key { value, span: NOWHERE });
    let text = key(Value::String(token.into()));
    let index = token.parse().ok().map(Piece::Index);
    let special = Some(key(value::key_value(token))).filter(|it| *it != text);
    index.into_iter().chain(special).chain([text]).collect()
}
