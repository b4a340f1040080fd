//! What people are told of a comparison.

use layercake::compare::reach::Why;
use layercake::compare::{Status, Via};
use layercake::diagnostic::{Diagnostic, Label};
use layercake::edit::{Edit, EditId, EditKind, Text};
use layercake::report::Style;
use layercake::report::comparison::{Grouping, Look, Unchanged};
use layercake::source::DocKey;
use layercake::triage::{self, Findings};
use layercake::yaml::diff::{Difference, Kind, Place};

use super::world::{Side, World, look};
use super::{plain, rule};

const VERSIONS: &str = "global/software/config/versions.yaml";
const NEUTRON: &str = "global/software/charts/osh/openstack-compute-kit/neutron.yaml";
const SLOOP: &str = "type/sloop/charts/osh/comps/neutron.yaml";
const AIAB: &str = "site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml";
const SUSE: &str = "site/airskiff-suse/software/config/versions.yaml";
const SUSE_CHART: &str = AIAB;
const SITES: [&str; 6] =
    ["aiab", "airskiff", "airskiff-suse", "airsloop", "seaworthy", "seaworthy-virt"];

fn versions(image: &str) -> String {
    format!("schema: pegleg/SoftwareVersions/v1\ndata:\n  images:\n    neutron: {image}\n")
}

/// One line edited, and where it went: through two other documents, past a
/// replacement, and into all sites but one.
pub(super) fn one_image() -> World {
    let chart = "schema: armada/Chart/v1\n".to_owned() + &"# text\n".repeat(30);
    let (old, new) = (
        versions("docker.io/openstackhelm/neutron:ocata-ubuntu_xenial"),
        versions("docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy"),
    );
    let mut world = World::new(
        &SITES,
        &[
            (VERSIONS, &old, &new),
            (NEUTRON, &chart, &chart),
            (SLOOP, &chart, &chart),
            (AIAB, &chart, &chart),
            (SUSE, &chart, &chart),
        ],
    );
    world.schema("pegleg/SoftwareVersions/v1", &["software-versions"]);
    world.schema("armada/Chart/v1", &["neutron", "neutron-global"]);
    let edit = world.edit("software-versions (global)", VERSIONS, ".images.neutron");
    let (at, tag) = (".images.neutron", ".values.images.tags.neutron");
    let edited = (Via::Edited, "software-versions (global)", at, &[(VERSIONS, 4)][..]);
    let substituted =
        (Via::Substituted, "neutron-global (global)", tag, &[(NEUTRON, 26), (NEUTRON, 28)][..]);
    let inherited = (Via::Inherited, "neutron (type)", tag, &[(SLOOP, 11)][..]);
    for site in SITES.into_iter().filter(|it| *it != "airskiff-suse") {
        let output = world.output(site, "software-versions (global)", Status::Changed, VERSIONS);
        world.differs(output, at, VERSIONS, ".data.images.neutron");
        let replaced = (Via::Replaced, "software-versions (site)", at, &[(VERSIONS, 1)][..]);
        match site {
            "airskiff" => world.cause(output, edit, &[], &[edited, replaced]),
            _ => world.cause(output, edit, &[], &[edited]),
        }
        let output = world.output(site, "neutron-global (global)", Status::Changed, NEUTRON);
        world.differs(output, tag, VERSIONS, ".data.images.neutron");
        world.cause(output, edit, &[], &[edited, substituted]);
        if site == "seaworthy-virt" {
            continue;
        }
        let output = world.output(site, "neutron (site)", Status::Changed, AIAB);
        world.differs(output, tag, VERSIONS, ".data.images.neutron");
        let last = (Via::Inherited, "neutron (site)", tag, &[(AIAB, 10)][..]);
        world.cause(output, edit, &[], &[edited, substituted, inherited, last]);
    }
    world.shield(edit, "airskiff-suse", "software-versions (site)", at, Why::SetAgain, (SUSE, 20));
    world.finish()
}

/// Compares text with what is written down, line by line.
fn check(found: &str, expected: &str) {
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    let found = found.join("\n");
    assert_eq!(found.trim_end(), expected.join("\n"), "\n{found}");
}

#[test]
fn one_edit_is_told_with_its_reach() {
    let world = one_image();
    check(
        &world.at(80),
        "
treasuremap · 6 sites · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 1  global/software/config/versions.yaml:4
  software-versions (global)  .images.neutron
  - docker.io/openstackhelm/neutron:ocata-ubuntu_xenial
  + docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy

  reaches 14 outputs in 5 of 6 sites; 9 of them come from files you did not
  touch

    5 × software-versions  .images.neutron
      in aiab airskiff* airsloop seaworthy seaworthy-virt
      edited  (* replaced)
    5 × neutron-global  .values.images.tags.neutron
      in aiab airskiff airsloop seaworthy seaworthy-virt
      substituted
    4 × neutron  .values.images.tags.neutron
      in aiab airskiff airsloop seaworthy
      substituted > inherited

  route of the longest: aiab neutron, 3 hops
    global/software/config/versions.yaml:4
      edited
    global/software/charts/osh/openstack-compute-kit/neutron.yaml:26 → :28
      substituted into neutron-global (global)
    type/sloop/charts/osh/comps/neutron.yaml:11
      inherited by neutron (type)
    site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml:10
      inherited by neutron (site)

  stops at
    airskiff-suse  0 outputs: set again at
      site/airskiff-suse/software/config/versions.yaml:20

1 edit · 14 outputs changed in 3 groups · 0 added · 0 removed · 1 site shielded
",
    );
    check(&world.at(120), "
treasuremap · 6 sites · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 1  global/software/config/versions.yaml:4
  software-versions (global)  .images.neutron
  - docker.io/openstackhelm/neutron:ocata-ubuntu_xenial
  + docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy

  reaches 14 outputs in 5 of 6 sites; 9 of them come from files you did not touch

    outputs  document           value at                     sites                               route
    5        software-versions  .images.neutron              aiab airsk* airsl seawo seawo-virt  edited  (* replaced)
    5        neutron-global     .values.images.tags.neutron  aiab airsk airsl seawo seawo-virt   substituted
    4        neutron            .values.images.tags.neutron  aiab airsk airsl seawo              substituted > inherited
    sites: airsk = airskiff, airsl = airsloop, seawo = seaworthy, seawo-virt = seaworthy-virt

  route of the longest: aiab neutron, 3 hops
    global/software/config/versions.yaml:4                                  edited
    global/software/charts/osh/openstack-compute-kit/neutron.yaml:26 → :28  substituted into neutron-global (global)
    type/sloop/charts/osh/comps/neutron.yaml:11                             inherited by neutron (type)
    site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml:10     inherited by neutron (site)

  stops at
    airskiff-suse  0 outputs: set again at site/airskiff-suse/software/config/versions.yaml:20

1 edit · 14 outputs changed in 3 groups · 0 added · 0 removed · 1 site shielded
");
    check(&world.at(140), "
treasuremap · 6 sites · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 1  global/software/config/versions.yaml:4
  software-versions (global)  .images.neutron
  - docker.io/openstackhelm/neutron:ocata-ubuntu_xenial
  + docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy

  reaches 14 outputs in 5 of 6 sites; 9 of them come from files you did not touch

    outputs  document           value at                     sites                                             route
    5        software-versions  .images.neutron              aiab airskiff* airsloop seaworthy seaworthy-virt  edited  (* replaced)
    5        neutron-global     .values.images.tags.neutron  aiab airskiff airsloop seaworthy seaworthy-virt   substituted
    4        neutron            .values.images.tags.neutron  aiab airskiff airsloop seaworthy                  substituted > inherited

  route of the longest: aiab neutron, 3 hops
    global/software/config/versions.yaml:4                                  edited
    global/software/charts/osh/openstack-compute-kit/neutron.yaml:26 → :28  substituted into neutron-global (global)
    type/sloop/charts/osh/comps/neutron.yaml:11                             inherited by neutron (type)
    site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml:10     inherited by neutron (site)

  stops at
    airskiff-suse  0 outputs: set again at site/airskiff-suse/software/config/versions.yaml:20

1 edit · 14 outputs changed in 3 groups · 0 added · 0 removed · 1 site shielded
");
    check(&world.brief(), "
global/software/config/versions.yaml:4 software-versions (global) .images.neutron: 14 outputs in 5 sites, 1 site shielded
1 edit · 14 outputs changed in 3 groups · 0 added · 0 removed · 1 site shielded
");
}

#[test]
fn terminals_without_unicode_get_none_and_those_with_colours_some() {
    let ascii = one_image().full(Style { unicode: false, ..plain(80) }, look());
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(ascii.contains("neutron.yaml:26 -> :28"), "{ascii}");
    assert!(ascii.contains("1 edit | 14 outputs changed"), "{ascii}");
    let painted = one_image().full(Style { color: true, ..plain(80) }, look());
    assert!(painted.contains("  \x1b[1;31m- docker.io/openstackhelm/neutron:ocata"), "{painted}");
    assert!(painted.contains("  \x1b[1;32m+ docker.io/openstackhelm/neutron:2024"), "{painted}");
    let bare = painted.replace("\x1b[1m", "").replace("\x1b[1;31m", "").replace("\x1b[1;32m", "");
    assert_eq!(bare.replace("\x1b[0m", ""), one_image().at(80), "colours are all the difference");
}

/// Forty versions raised at once: ten charts have four images each.
pub(super) fn many_images() -> World {
    let text = |version: &str| {
        let images = (0..40)
            .map(|at| format!("    image_{at}: registry.example.org/chart{}:{version}\n", at / 4));
        format!("data:\n  images:\n{}", images.collect::<String>())
    };
    let chart = "# text\n".repeat(30) + "schema: s\n";
    let mut world = World::new(
        &["lab", "north", "south"],
        &[("versions.yaml", &text("1.0"), &text("1.1")), ("charts.yaml", &chart, &chart)],
    );
    let edits: Vec<EditId> = (0..40)
        .map(|at| world.edit("versions (global)", "versions.yaml", &format!(".images.image_{at}")))
        .collect();
    for site in ["lab", "north", "south"] {
        let versions = world.output(site, "versions (global)", Status::Changed, "versions.yaml");
        for (at, edit) in edits.iter().enumerate() {
            let path = format!(".images.image_{at}");
            world.differs(versions, &path, "versions.yaml", &format!(".data{path}"));
            let line = at + 3;
            let edited = (Via::Edited, "versions (global)", &*path, &[("versions.yaml", line)][..]);
            world.cause(versions, *edit, &[], &[edited]);
        }
        for number in 0..10 {
            let name = format!("chart{number} (global)");
            let chart = world.output(site, &name, Status::Changed, "charts.yaml");
            for (at, edit) in edits.iter().enumerate().skip(number * 4).take(4) {
                let (from, to) =
                    (format!(".images.image_{at}"), format!(".values.tags.image_{at}"));
                world.differs(chart, &to, "versions.yaml", &format!(".data{from}"));
                let edited =
                    (Via::Edited, "versions (global)", &*from, &[("versions.yaml", at + 3)][..]);
                let into = (Via::Substituted, &*name, &*to, &[("charts.yaml", number + 1)][..]);
                world.cause(chart, *edit, &[], &[edited, into]);
            }
        }
    }
    world.finish()
}

#[test]
fn edits_with_the_same_reach_are_told_as_one() {
    let text = many_images().at(80);
    assert_eq!(
        text.matches("edits ").count(),
        10 + 9 + 1,
        "each fold, what refers to the first, and the end"
    );
    assert_eq!(text.matches("chart7:1.0").count(), 1, "values are told once");
    let world = many_images();
    check(
        &world.full(plain(80), Look { limit: 2, ..look() }),
        "
treasuremap · 3 sites · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edits 1 to 4 of 40  versions.yaml
  versions (global)
  :3  .images.image_0
  :4  .images.image_1
  and 2 more places (--limit)
  - registry.example.org/chart0:1.0
  + registry.example.org/chart0:1.1

  reach the same 6 outputs in 3 of 3 sites; 3 of them come from files you did
  not touch

    outputs  document  value at                         sites        route
    3        versions  .images.image_0 and 3 more       all 3 sites  edited
    3        chart0    .values.tags.image_0 and 3 more  all 3 sites  substituted

  route of the longest: edit 1, lab chart0, 1 hop
    versions.yaml:3  edited
    charts.yaml:1    substituted into chart0 (global)

edits 5 to 8 of 40  versions.yaml
  versions (global)
  :7  .images.image_4
  :8  .images.image_5
  and 2 more places (--limit)
  - registry.example.org/chart1:1.0
  + registry.example.org/chart1:1.1

  reach the same 6 outputs in 3 of 3 sites; 3 of them come from files you did
  not touch

    outputs  document  value at                         sites        route
    3        chart1    .values.tags.image_4 and 3 more  all 3 sites  substituted

    also 3 outputs listed with edits 1 to 4: versions

  route of the longest: edit 5, lab chart1, 1 hop
    versions.yaml:7  edited
    charts.yaml:2    substituted into chart1 (global)

and 32 more edits (--limit): edits 9 to 40

40 edits · 33 outputs changed in 11 groups · 0 added · 0 removed
",
    );
}

#[test]
fn every_output_can_be_had() {
    let look = Look { grouping: Grouping::Apart, ..look() };
    let text = one_image().full(plain(140), look);
    let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("document"));
    check(
        &rows.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"),
        "
    document           value at                     site            route
    software-versions  .images.neutron              aiab            edited
    software-versions  .images.neutron              airskiff        replaced
    software-versions  .images.neutron              airsloop        edited
    software-versions  .images.neutron              seaworthy       edited
    software-versions  .images.neutron              seaworthy-virt  edited
    neutron-global     .values.images.tags.neutron  aiab            substituted
    neutron-global     .values.images.tags.neutron  airskiff        substituted
    neutron-global     .values.images.tags.neutron  airsloop        substituted
    neutron-global     .values.images.tags.neutron  seaworthy       substituted
    neutron-global     .values.images.tags.neutron  seaworthy-virt  substituted
    neutron            .values.images.tags.neutron  aiab            substituted > inherited
    neutron            .values.images.tags.neutron  airskiff        substituted > inherited
    neutron            .values.images.tags.neutron  airsloop        substituted > inherited
    neutron            .values.images.tags.neutron  seaworthy       substituted > inherited
",
    );
}

/// Everything that can become of an output, by every way.
pub(super) fn all_kinds() -> World {
    let text = "data: {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}\nmetadata: {labels: {x: y}}\n";
    let changed = text.replace("a: 1", "a: 10").replace("b: 2, ", "").replace("c: 3", "c: 30");
    let changed = changed.replace("x: y", "x: z").replace("f: 6", "f: 6, g: {h: [1, 2]}");
    let policy = "data: {layerOrder: [global, site]}\n";
    let mut world = World::new(
        &["lab", "north"],
        &[
            ("a.yaml", text, &changed),
            ("old.yaml", "schema: s\n", ""),
            ("new.yaml", "", "schema: s\n"),
            ("left/moved.yaml", "schema: s\n", ""),
            ("right/moved.yaml", "", "schema: s\n"),
            ("policy.yaml", policy, &policy.replace("global, ", "global, type, ")),
            ("other.yaml", "schema: s\n", "schema: s\n"),
        ],
    );
    let value = world.edit("one (global)", "a.yaml", ".a");
    let gone = world.edit("one (global)", "a.yaml", ".b");
    let third = world.edit("one (global)", "a.yaml", ".c");
    let key = world.edit("one (global)", "a.yaml", ".g");
    let label = world.edit("one (global)", "a.yaml", "metadata.labels.x");
    let removed = world.document_edit(EditKind::Document, "old (global)", Some("old.yaml"), None);
    let added = world.document_edit(EditKind::Document, "new (site)", None, Some("new.yaml"));
    let (left, right) = (Some("left/moved.yaml"), Some("right/moved.yaml"));
    let moved = world.document_edit(EditKind::Moved, "moved (type)", left, right);
    let order = world.edit("policy", "policy.yaml", ".layerOrder");
    world.comparison.edits[order.index()].edit.kind = EditKind::Policy;
    let at = |line| [("other.yaml", line)];
    let edited = |path| (Via::Edited, "one (global)", path, &[("a.yaml", 1)][..]);
    let mut out = |name: &str, status, edit, joint: &[EditId], steps: &[super::world::Step<'_>]| {
        let file = if status == Status::Removed { "old.yaml" } else { "other.yaml" };
        let output = world.output("lab", name, status, file);
        if status == Status::Changed {
            world.differs(output, ".a", "a.yaml", ".data.a");
        }
        world.cause(output, edit, joint, steps);
        output
    };
    let here = at(1);
    out(
        "changed (site)",
        Status::Changed,
        value,
        &[third],
        &[edited(".a"), (Via::Inherited, "changed (site)", ".a", &here)],
    );
    let last = out(
        "changed (site)",
        Status::Changed,
        third,
        &[],
        &[edited(".c"), (Via::Retargeted, "changed (site)", ".a", &here)],
    );
    out("gone (site)", Status::Removed, removed, &[], &[(Via::Removed, "old (global)", "", &here)]);
    out("came (site)", Status::Added, added, &[], &[(Via::Added, "new (site)", "", &here)]);
    out(
        "broken (site)",
        Status::Broken,
        gone,
        &[],
        &[edited(".b"), (Via::Substituted, "broken (site)", ".x", &here)],
    );
    out(
        "repaired (site)",
        Status::Repaired,
        key,
        &[],
        &[edited(".g"), (Via::Replaced, "repaired (site)", ".g", &here)],
    );
    out(
        "orphan (site)",
        Status::Changed,
        label,
        &[],
        &[edited(""), (Via::Unparented, "orphan (site)", "", &here)],
    );
    let labelled = out("labelled (site)", Status::Metadata, label, &[], &[edited("")]);
    out("moved (type)", Status::Added, moved, &[], &[(Via::Added, "moved (type)", "", &here)]);
    out(
        "layered (site)",
        Status::Changed,
        order,
        &[],
        &[(Via::Policy, "layered (site)", "", &here)],
    );
    // The first two are of one output, which has two causes.
    let second = world.comparison.outputs.remove(last);
    world.comparison.outputs[last - 1].causes.extend(second.causes.into_iter().map(|mut cause| {
        cause.joint = vec![value];
        cause
    }));
    let metadata = as_difference(&world.comparison.edits[label.index()].edit);
    world.comparison.outputs[labelled - 1].metadata.push(metadata);
    world.finish()
}

/// What an edit made another, in the document it was made in.
fn as_difference(edit: &Edit) -> Difference {
    let place = |text: &Text| Place {
        location: edit.location.clone(),
        key: None,
        node: text.node.clone().expect("a value was edited"),
    };
    Difference {
        kind: Kind::Value,
        items: Vec::new(),
        base: edit.base.as_ref().map(place),
        head: edit.head.as_ref().map(place),
        unlisted: 0,
    }
}

#[test]
fn everything_that_can_become_of_an_output_has_its_words() {
    check(
        &all_kinds().at(100),
        r#"
treasuremap · 2 sites · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 9  a.yaml:1
  one (global)  .a
  - 1
  + 10

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at  sites  route
    1        changed   .a        lab    inherited, together with edit 3

  route of the longest: lab changed, 1 hop
    a.yaml:1      edited
    other.yaml:1  inherited by changed (site)

edit 2 of 9  a.yaml:1
  one (global)  .b
  - 2

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at              sites  route
    1        broken    (no longer rendered)  lab    substituted

  route of the longest: lab broken, 1 hop
    a.yaml:1      edited
    other.yaml:1  substituted into broken (site)

edit 3 of 9  a.yaml:1
  one (global)  .c
  - 3
  + 30

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    also 1 output listed with edit 1: changed (together with edit 1)

edit 4 of 9  a.yaml:1
  one (global)  .g
  + h:
  + - 1
  + - 2

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at          sites  route
    1        repaired  (rendered again)  lab    replaced

  route of the longest: lab repaired, 1 hop
    a.yaml:1      edited
    other.yaml:1  replaced by repaired (site)

edit 5 of 9  a.yaml:2
  one (global)  metadata.labels.x
  - "y"
  + z

  reaches 2 outputs in 1 of 2 sites; all of them come from files you did not touch

    outputs  document  value at           sites  route
    1        labelled  metadata.labels.x  lab    edited
    1        orphan    .a                 lab    unparented

  route of the longest: lab orphan, 1 hop
    a.yaml:1      edited
    other.yaml:1  unparented: orphan (site) finds no parent

edit 6 of 9  old.yaml:1
  document old (global) removed

  reaches 1 output in 1 of 2 sites

    outputs  document  value at            sites  route
    1        gone      (document removed)  lab    removed

edit 7 of 9  new.yaml:1
  document new (site) added

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at          sites  route
    1        came      (document added)  lab    added

edit 8 of 9  right/moved.yaml:1
  document moved (type) moved
  - left/moved.yaml
  + right/moved.yaml

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at          sites  route
    1        moved     (document added)  lab    added

edit 9 of 9  policy.yaml:1
  layers policy  .layerOrder
  - - global
  - - site
  + - global
  + - type
  + - site

  reaches 1 output in 1 of 2 sites; it comes from a file you did not touch

    outputs  document  value at  sites  route
    1        layered   .a        lab    policy

9 edits · 3 outputs changed in 3 groups · 2 added · 1 removed · 1 broken · 1 repaired · 1 with other
metadata only
"#,
    );
    check(
        &all_kinds().brief(),
        "
a.yaml:1 one (global) .a: 1 output in 1 site
a.yaml:1 one (global) .b: 1 output in 1 site
a.yaml:1 one (global) .c: 1 output in 1 site
a.yaml:1 one (global) .g: 1 output in 1 site
a.yaml:2 one (global) metadata.labels.x: 2 outputs in 1 site
old.yaml:1 document old (global) removed: 1 output in 1 site
new.yaml:1 document new (site) added: 1 output in 1 site
right/moved.yaml:1 document moved (type) moved: 1 output in 1 site
policy.yaml:1 layers policy .layerOrder: 1 output in 1 site
9 edits · 3 outputs changed in 3 groups · 2 added · 1 removed · 1 broken · 1
repaired · 1 with other metadata only
",
    );
}

#[test]
fn edits_without_effect_are_told_apart() {
    let (old, new) = ("data: {a: 1, b: 1, c: 1}\n", "data: {a: 2, b: 2, c: 2}\n");
    let world = |count: usize| {
        let mut world = World::new(&["lab"], &[("a.yaml", old, new)]);
        let edits = ["a", "b", "c"].into_iter().take(count);
        for at in edits {
            world.edit("one (global)", "a.yaml", &format!(".{at}"));
        }
        world
    };
    check(
        &world(3).finish().at(80),
        "
treasuremap · 1 site · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

changes nothing: 3 edits
  edit 1  a.yaml:1  one (global)  .a
  edit 2  a.yaml:1  one (global)  .b
  edit 3  a.yaml:1  one (global)  .c

3 edits, 0 rendered documents changed
",
    );
    // A file that is edited as text, and not as values.
    check(
        &world(0).finish().at(80),
        "
treasuremap · 1 site · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

0 edits, 0 rendered documents changed
",
    );
    check(&world(0).finish().brief(), "\n0 edits, 0 rendered documents changed\n");
    let mut same = world(0).finish();
    same.sides.edited_files = 0;
    check(
        &same.at(80),
        "
treasuremap: no document differs between fca290a1b2 (main) and working tree
0 edits, 0 rendered documents changed
",
    );
    // Stopped everywhere is no silence.
    let mut stopped = world(2);
    for (site, line) in [("lab", 1), ("", 1)] {
        stopped.shield(EditId::at(0), site, "over (site)", ".a", Why::Deleted, ("a.yaml", line));
    }
    check(
        &stopped.finish().at(80),
        "
treasuremap · 1 site · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 2  a.yaml:1
  one (global)  .a
  - 1
  + 2

  reaches no output

  stops at
    lab  0 outputs: deleted at a.yaml:1
    over (site): deleted at a.yaml:1

changes nothing: 1 edit
  edit 2  a.yaml:1  one (global)  .b

2 edits, 0 rendered documents changed
",
    );
}

#[test]
fn what_nothing_explains_cannot_be_overlooked() {
    let mut world = one_image();
    world.comparison.outputs[0].causes.clear();
    world.comparison.edits[0].outputs.retain(|output| *output != 0);
    world.comparison.outputs[0].unexplained = 1;
    world.comparison.outputs[1].unexplained = 1;
    let least = Look { limit: 1, ..look() };
    for text in [world.full(plain(80), least), world.brief()] {
        let from = text.find("UNEXPLAINED: ").expect("it is there whatever the limit");
        check(
            text[from..].split("\n\n").next().unwrap(),
            "
UNEXPLAINED: 2 outputs have changes that no edit explains
  aiab  neutron (site)  .values.images.tags.neutron
  airskiff  neutron (site)  .values.images.tags.neutron
  This is a fault of layercake, not of your documents: do not rely on the causes
  above for these outputs, and please report it with the output of `-o json`.
",
        );
        assert!(text.contains("2 UNEXPLAINED"), "the closing line says it, too: {text}");
    }
}

#[test]
fn shields_are_told_by_site_and_by_document() {
    let mut world = one_image();
    let edit = EditId::at(0);
    for site in ["aiab", "airsloop"] {
        let key = "armada/Chart/v1 neutron-extra (type)";
        world.shield(edit, site, key, ".values", Why::NotTaken, (SLOOP, 5));
    }
    for line in 6..12 {
        let key = "armada/Chart/v1 neutron (site)";
        world.shield(
            edit,
            "airskiff-suse",
            key,
            ".values",
            Why::SubstitutedOver,
            (SUSE_CHART, line),
        );
    }
    let text = world.at(100);
    let from = text.find("  stops at").unwrap();
    check(
        text[from..].split("\n\n").next().unwrap(),
        "
  stops at
    airskiff-suse  0 outputs: set again at site/airskiff-suse/software/config/versions.yaml:20;
      substituted over at site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml:6, :7, :8
      and 3 more places
    neutron-extra (type)  in aiab airsloop: taken by no action at
      type/sloop/charts/osh/comps/neutron.yaml:5
",
    );
}

#[test]
fn values_are_a_few_lines() {
    let long = "x".repeat(100);
    let script = |line: &str| {
        (0..30)
            .map(|at| if at == 20 { format!("    {line}\n") } else { format!("    step {at}\n") })
            .collect::<String>()
    };
    let side = |number: usize| {
        let keys: String = (0..number * 6).map(|at| format!("key{at}: {at}, ")).collect();
        format!(
            "data:\n  script: |\n{}  one: {{a: {number}, b: 2}}\n  many: {{{keys}}}\n  list: [{}]\n  \
             text: {long}{number}{long}\n  quoted: '{number}'\n  ends: |{}\n    same\n  grew: |\n{}",
            script(&format!("run {number}")),
            "1, ".repeat(number * 7),
            if number == 1 { "-" } else { "" },
            "    more\n".repeat(number * 9),
        )
    };
    let side = |number| side(number).replace("quoted: '2'", "quoted: 2");
    let mut world = World::new(&[], &[("a.yaml", &side(1), &side(2))]);
    for at in ["script", "one", "many", "list", "text", "quoted", "ends", "grew"] {
        let edit = world.edit("one", "a.yaml", &format!(".{at}"));
        let output = world.output("", "one", Status::Changed, "a.yaml");
        let key = &mut world.comparison.outputs[output].key;
        *key = DocKey::new(key.schema.clone(), key.layer.clone(), at);
        world.differs(output, &format!(".{at}"), "a.yaml", &format!(".data.{at}"));
        world.cause(
            output,
            edit,
            &[],
            &[(Via::Edited, "one", &format!(".{at}"), &[("a.yaml", 1)])],
        );
    }
    let text = world.finish().at(60);
    let kept = text.lines().filter(|line| {
        ["  one", "  - ", "  + ", "  from", "  other"].iter().any(|start| line.starts_with(start))
    });
    check(
        &kept.collect::<Vec<_>>().join("\n"),
        r#"
  one  .script
  from line 21 of 30:
  - run 1
  + run 2
  one  .one
  - a: 1
  - b: 2
  + a: 2
  + b: 2
  one  .many
  - {6 keys}
  + {12 keys}
  one  .list
  - [7 items]
  + [14 items]
  one  .text
  - …xxxxxxxxxxxxxxxxxx1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
  + …xxxxxxxxxxxxxxxxxx2xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
  one  .quoted
  - "1"
  + 2
  one  .ends
  other line breaks at the end
  one  .grew
  from line 10 of 18:
  + more
  + more
  + more
  + (and 6 more lines)
"#,
    );
    assert!(text.contains("\n  reaches 1 output\n"), "a set has no sites: {text}");
}

fn with_findings() -> World {
    let mut world = one_image();
    let finding = |line: usize, message: &str| {
        let at = world.line(Side::Head, VERSIONS, line);
        Diagnostic::new(rule("missing-parent"), message, Label::new(at, "here"))
    };
    let new = vec![finding(1, "the first"), finding(3, "unknown cause")];
    let unchanged = vec![finding(2, "on both sides")];
    let fixed = vec![finding(4, "no more")];
    world.findings = Some(triage::Compared {
        new: Findings { diagnostics: new, ..Findings::default() },
        causes: vec![vec![EditId::at(0)], vec![]],
        unchanged: Findings { diagnostics: unchanged, ..Findings::default() },
        fixed: Findings { diagnostics: fixed, ..Findings::default() },
        ..triage::Compared::default()
    });
    world
}

#[test]
fn new_findings_follow_with_their_cause() {
    let world = with_findings();
    let text = world.at(80);
    check(
        &text[text.find("error[").unwrap()..],
        "
error[missing-parent]: the first
   ╭─[global/software/config/versions.yaml:1:1]
 1 │ schema: pegleg/SoftwareVersions/v1
   · ─────────────────┬────────────────
   ·                  ╰── here
 2 │ data:
   ╰────
  caused by: edit 1, global/software/config/versions.yaml:4

error[missing-parent]: unknown cause
   ╭─[global/software/config/versions.yaml:3:3]
 2 │ data:
 3 │   images:
   ·   ───┬───
   ·      ╰── here
 4 │     neutron: docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy
   ╰────

1 edit · 14 outputs changed in 3 groups · 0 added · 0 removed · 1 site shielded
findings: 2 new errors · 1 fixed · 1 unchanged (hidden, --all-findings)
",
    );
    let all = world.full(plain(80), Look { unchanged: Unchanged::Shown, ..look() });
    let heading = all.find("unchanged, found on both sides:").expect("a heading");
    assert!(all[heading..].contains("error[missing-parent]: on both sides"), "{all}");
    assert!(all.ends_with("findings: 2 new errors · 1 fixed · 1 unchanged\n"), "{all}");
    assert!(!all.contains("no more"), "what is fixed is counted");
}

#[test]
fn findings_have_one_fingerprint_with_and_without_a_comparison() {
    let world = with_findings();
    let told: serde_json::Value = serde_json::from_str(&world.json()).unwrap();
    let of = |report: &serde_json::Value, field: &str| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|it| it[field].to_string()).collect()
    };
    assert_eq!(of(&told, "state"), ["\"new\"", "\"unchanged\"", "\"new\"", "\"fixed\""]);
    assert_eq!(of(&told, "caused_by"), ["[\"e1\"]", "[]", "[]", "[]"]);
    let findings = world.findings.as_ref().unwrap();
    let both = findings.new.diagnostics.iter().chain(&findings.unchanged.diagnostics).cloned();
    let head = Findings::new(both.collect(), &world.sources, &[]);
    let mut out = Vec::new();
    let totals = layercake::report::terminal::Totals::default();
    layercake::report::json::write(
        &layercake::report::json::Report::of_findings(&head, &totals, &world.view()),
        &mut out,
    )
    .unwrap();
    let alone: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(of(&alone, "fingerprint"), of(&told, "fingerprint")[..3]);
    assert_eq!(of(&alone, "message"), of(&told, "message")[..3]);
    assert_eq!(of(&alone, "state"), ["null"; 3]);
}

#[test]
fn untrusted_text_cannot_drive_a_terminal() {
    let bad = "a\u{1b}[2J\u{202e}b\u{7}";
    let text = |value: &str| format!("data: {{\"k\\e2J\\u202E\": \"{value}\\e[1A\\u202E\\r\"}}\n");
    let mut world =
        World::new(&[bad, "lab"], &[("x\u{202e}\u{1b}.yaml", &text("old"), &text("new"))]);
    let file = "x\u{202e}\u{1b}.yaml";
    let key = format!("schema{bad} {bad} ({bad})");
    let edit = world.edit(&key, file, ".k\u{1b}2J\u{202e}");
    let output = world.output(bad, &key, Status::Changed, file);
    world.differs(output, ".k\u{1b}2J\u{202e}", file, ".data.k\u{1b}2J\u{202e}");
    let steps =
        [(Via::Edited, &*key, ".a", &[(file, 1)][..]), (Via::Inherited, &*key, ".a", &[(file, 1)])];
    world.cause(output, edit, &[], &steps);
    world.shield(edit, "lab", &key, ".a", Why::SetAgain, (file, 1));
    world.comparison.outputs[output].unexplained = 1;
    let mut world = world.finish();
    for text in [&mut world.sides.repository, &mut world.sides.reason, &mut world.sides.to.name] {
        text.push_str(bad);
    }
    let outputs = [40, 80, 200].map(|width| world.at(width));
    for shown in outputs.iter().chain([&world.brief(), &world.json()]) {
        let harmful =
            shown.chars().find(|it| (it.is_control() && *it != '\n') || *it == '\u{202e}');
        assert_eq!(harmful, None, "{shown}");
        assert!(shown.contains("old") || !shown.contains("new"), "{shown}");
    }
}

/// What is reported where an encrypted document was edited, and its secret
/// went into a document that is none.
fn secret_world(base: &str, head: &str) -> World {
    let side = |secret: &str| format!("metadata: {{storagePolicy: encrypted}}\ndata:\n{secret}");
    let chart = "data: {values: {password: x}}\n";
    let mut world =
        World::new(&["lab"], &[("p.yaml", &side(base), &side(head)), ("c.yaml", chart, chart)]);
    let edit = world.edit("secret (site)", "p.yaml", ".");
    let output = world.output("lab", "chart (global)", Status::Changed, "c.yaml");
    world.differs(output, ".values.password", "p.yaml", ".data");
    // A route that leads below the secret.
    let file = world.sources.iter().find(|(_, it)| it.text().contains("encrypted")).unwrap().0;
    let inside = layercake::source::Span::point(file, 45);
    let steps = [
        (Via::Edited, "secret (site)", "", &[("p.yaml", 3)][..]),
        (Via::Substituted, "chart (global)", ".values.password", &[("c.yaml", 1)]),
    ];
    world.cause(output, edit, &[], &steps);
    let key = layercake::yaml::Key::string("cnry-key", inside);
    let below = layercake::yaml::path::Location(
        [super::world::pieces(".values[7]"), vec![layercake::yaml::path::Piece::Key(key)]].concat(),
    );
    world.comparison.outputs[output].causes[0].route[1].location = Some(below);
    world.shield(edit, "lab", "chart (site)", ".values.password", Why::SetAgain, ("c.yaml", 1));
    world.finish()
}

#[test]
fn a_secret_is_in_no_byte_of_any_report() {
    let all = |base: &str, head: &str| -> Vec<String> {
        let world = secret_world(base, head);
        let apart = Look { grouping: Grouping::Apart, ..look() };
        let painted = Style { color: true, ..plain(120) };
        vec![world.at(40), world.at(80), world.full(painted, apart), world.brief(), world.json()]
    };
    let first = all("  cnry\n", "  cnry2\n");
    for (base, head) in [
        ("  cnry-cnry-cnry-cnry\n", "  cnry\n"),
        ("  cnry-key: cnry\n", "  cnry-key: cnry-other\n"),
        ("  cnry-key: [cnry, cnry]\n  cnry-more: 1\n", "  - cnry\n"),
        ("  |\n   cnry\n   cnry\n", "  cnry\n"),
    ] {
        let found = all(base, head);
        for shown in &found {
            assert!(!shown.contains("cnry"), "{shown}");
            assert!(!shown.contains("[7]") && !shown.contains("/7"), "{shown}");
        }
        assert_eq!(found, first, "a report depends on a secret");
    }
    assert!(first[1].contains("  - (hidden)\n  + (hidden)\n"), "{}", first[1]);
}

/// One edit that reaches one output in each of these sites.
fn reaching(all: &[&str], reached: &[&str]) -> World {
    let mut world = World::new(all, &[("a.yaml", "data: {a: 1}\n", "data: {a: 2}\n")]);
    let edit = world.edit("one (global)", "a.yaml", ".a");
    for site in reached {
        let output = world.output(site, "one (global)", Status::Changed, "a.yaml");
        world.differs(output, ".a", "a.yaml", ".data.a");
        world.cause(output, edit, &[], &[(Via::Edited, "one (global)", ".a", &[("a.yaml", 1)])]);
    }
    world.finish()
}

#[test]
fn sites_are_named_as_briefly_as_can_be_understood() {
    let names: Vec<String> = (0..12).map(|at| format!("region-{at:02}-production")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let row = |reached: &[&str], width| {
        let text = reaching(&names, reached).at(width);
        let row = text.lines().skip_while(|line| !line.starts_with("    ")).skip(1);
        row.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    check(&row(&names, 80), "    12       one       .a        all 12 sites  edited");
    check(
        &row(&names[2..], 100),
        "    10       one       .a        all but region-00-production region-01-production  edited",
    );
    // In full they take more than a line, so they are short, and explained.
    check(
        &row(&names[..4], 80),
        "
    4        one       .a        re-00-pr re-01-pr re-02-pr re-03-pr  edited
    sites: re-00-pr = region-00-production, re-01-pr = region-01-production,
      re-02-pr = region-02-production, re-03-pr = region-03-production
",
    );
}

#[test]
fn documents_of_one_name_are_told_apart() {
    let mut world = reaching(&["lab"], &["lab"]);
    world.comparison.edits[0].edit.document = world.key("other/Kind/v1 one (global)");
    let text = world.at(100);
    assert!(text.contains("\n  one other/Kind/v1 (global)  .a\n"), "{text}");
    assert!(text.contains("    1        one example/Any/v1  .a "), "{text}");
}

#[test]
fn a_set_without_layout_has_no_sites() {
    let mut world = reaching(&[], &[""]);
    world.shield(EditId::at(0), "", "two (type)", ".a", Why::SetAgain, ("a.yaml", 1));
    check(
        &world.at(80),
        "
treasuremap · 1972 rendered documents · 0.21s
base  fca290a1b2 (main), merge-base of main and HEAD
head  working tree, 1 file changed

edit 1 of 1  a.yaml:1
  one (global)  .a
  - 1
  + 2

  reaches 1 output

    outputs  document  value at  route
    1        one       .a        edited

  stops at
    two (type): set again at a.yaml:1

1 edit · 1 output changed in 1 group · 0 added · 0 removed
",
    );
    check(
        &world.brief(),
        "
a.yaml:1 one (global) .a: 1 output, shielded in part
1 edit · 1 output changed in 1 group · 0 added · 0 removed
",
    );
}
