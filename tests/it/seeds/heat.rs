//! heat-specs, `specs/liberty/heat-property-group.rst`, passage by passage, with property groups in
//! a DataSchema document and the properties of a resource as the data of a document.

use layercake::diagnostic::Diagnostic;
use layercake::merge::deckhand::Semantics;
use layercake::source::{MemoryTree, SourceMap};

use super::POLICY;
use crate::support::{check_files, options};

/// Checks the data of each document by the schema, separately, and compares the findings with the
/// expected ones, each as `LINE rule: message`.
fn with_schema(schema: &str, cases: &[(&str, &[&str])]) {
    for (data, expected) in cases {
        let found = findings(None, schema, data);
        assert_eq!(found, *expected, "{data}\nby{schema}");
    }
}

fn findings(configuration: Option<&str>, schema: &str, data: &str) -> Vec<String> {
    let indented = |text: &str| text.trim_matches('\n').replace('\n', "\n  ");
    let schema = format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata:\n  schema: metadata/Control/v1\n  name: \
         example/Resource/v1\ndata:\n  {}\n",
        indented(schema)
    );
    let document = format!(
        "---\nschema: example/Resource/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
         resource\n  storagePolicy: cleartext\n  layeringDefinition: {{abstract: false, layer: \
         site}}\ndata:\n  {}\n",
        indented(data)
    );
    let definition = "---\nschema: pegleg/SiteDefinition/v1\nmetadata:\n  schema: \
         metadata/Document/v1\n  name: lab\n  storagePolicy: cleartext\n  layeringDefinition: \
         {abstract: false, layer: site}\ndata: {site_type: small}\n";
    let mut tree = MemoryTree::new()
        .with(
            "global/policy.yaml",
            format!("---\n{}", POLICY.trim_start_matches("---\n")),
        )
        .with("global/schema.yaml", schema)
        .with("type/small/README.md", "none")
        .with("site/lab/site-definition.yaml", definition)
        .with("site/lab/resource.yaml", document);
    if let Some(text) = configuration {
        tree = tree.with("layercake.yaml", text);
    }
    let checked = check_files(&tree, options(Semantics::Documented), |_| ());
    let about = [
        "property-group",
        "unsupported-property",
        "ambiguous-property",
        "repeated",
    ];
    let own = |it: &&Diagnostic| about.iter().any(|word| it.rule.name.contains(word));
    let findings = checked.findings.diagnostics.iter().filter(own);
    findings
        .map(|finding| describe(finding, &checked.sources))
        .collect()
}

/// Text of a finding; its line counts from the first line of the data, or of the schema.
fn describe(finding: &Diagnostic, sources: &SourceMap) -> String {
    let file = sources.get(finding.primary.span.file).path().to_string();
    let line = i64::from(sources.start(finding.primary.span).line.get());
    let line = if file == "global/schema.yaml" {
        line - 6
    } else {
        line - 8
    };
    format!("{line} {}: {}", finding.rule.name, finding.message)
}

/// "resource mandates to provide either `PropertyA` or `PropertyB`, and one of them
/// is mandatory".
#[test]
fn either_of_two_properties() {
    let schema = "
type: object
properties: {PropertyA: {}, PropertyB: {}}
property_groups: [
  group1: {
    properties: [PropertyA, PropertyB],
    operator: xor
  }
]";
    with_schema(
        schema,
        &[
            ("PropertyA: 1", &[]),
            ("PropertyB: 1", &[]),
            (
                "Other: 1",
                &[
                    "0 property-group-violation: the data of `example/Resource/v1` has none of \
                   `PropertyA`, `PropertyB`, but property group `group1` requires exactly one",
                ],
            ),
            (
                "PropertyA: 1\nPropertyB: 2",
                &[
                    "1 property-group-violation: the data of `example/Resource/v1` has \
                   `PropertyA`, `PropertyB`, but property group `group1` allows only one",
                ],
            ),
        ],
    );
}

/// "Each group declared in the `property_groups` can refer the other group".
#[test]
fn group_refers_to_another() {
    let schema = "
type: object
properties: {PropertyA: {}, PropertyB: {}, PropertyC: {}, PropertyD: {}}
property_groups: [
  group1: {
    properties: [PropertyA,PropertyB],
    operator: OR
  },
  group2: {
    properties: [PropertyC,PropertyD,group1],
    operator: AND
  },
]";
    with_schema(
        schema,
        &[
            ("{PropertyA: 1, PropertyC: 1, PropertyD: 1}", &[]),
            ("{PropertyB: 1, PropertyC: 1, PropertyD: 1}", &[]),
            (
                "{PropertyC: 1, PropertyD: 1}",
                &[
                    "0 property-group-violation: the data of `example/Resource/v1` lacks \
                   `property_groups.group1`, required by property group `group2`",
                ],
            ),
            (
                "{PropertyA: 1, PropertyC: 1}",
                &[
                    "0 property-group-violation: the data of `example/Resource/v1` lacks \
                   `PropertyD`, required by property group `group2`",
                ],
            ),
        ],
    );
}

/// "a property or `property_group` will be depending on another property or
/// `property_group`": each of the four.
#[test]
fn properties_and_groups_depend_on_each_other() {
    let schema = |operands: &str| {
        format!(
            "
type: object
properties: {{a: {{}}, b: {{}}, c: {{}}, d: {{}}}}
property_groups:
  - ab: {{properties: [a, b], operator: and}}
  - cd: {{properties: [c, d], operator: or}}
  - g: {{properties: [{operands}], operator: depends_on}}
  - unused: {{properties: [ab, cd], operator: or, assert: false}}"
        )
    };
    let without = |first: &str, other: &str, line: i64| {
        format!(
            "{line} property-group-violation: the data of `example/Resource/v1` has `{first}` \
             without `{other}`, required by property group `g`"
        )
    };
    with_schema(
        &schema("a, c"),
        &[("c: 1", &[]), ("a: 1", &[&without("a", "c", 1)])],
    );
    with_schema(
        &schema("a, cd"),
        &[
            ("{a: 1, d: 1}", &[]),
            ("d: 1", &[]),
            ("a: 1", &[&without("a", "property_groups.cd", 1)]),
        ],
    );
    with_schema(
        &schema("ab, c"),
        &[
            ("a: 1", &[]),
            ("a: 1\nb: 1", &[&without("property_groups.ab", "c", 1)]),
        ],
    );
    with_schema(
        &schema("ab, cd"),
        &[
            ("{a: 1, b: 1, c: 1}", &[]),
            (
                "b: 1\na: 1",
                &[&without("property_groups.ab", "property_groups.cd", 2)],
            ),
        ],
    );
}

/// "`prp1.child_prp1.grand_child_prp1`".
#[test]
fn path_selects_a_grandchild() {
    let schema = "
type: object
properties:
  prp1:
    type: object
    properties:
      child_prp1: {type: object, properties: {grand_child_prp1: {}}}
  prp2: {}
property_groups:
  - g: {properties: ['prp1.child_prp1.grand_child_prp1', prp2], operator: xor}";
    with_schema(
        schema,
        &[
            ("prp1: {child_prp1: {grand_child_prp1: 1}}", &[]),
            ("{prp1: {child_prp1: {}}, prp2: 1}", &[]),
            (
                "prp1:\n  child_prp1:\n    grand_child_prp1: 1\nprp2: 1",
                &[
                    "3 property-group-violation: the data of `example/Resource/v1` has \
                   `prp1.child_prp1.grand_child_prp1`, `prp2`, but property group `g` \
                   allows only one",
                ],
            ),
        ],
    );
}

/// The properties of ROLES as in the specification, and with GROUP, which its groups name although
/// it is not declared.
fn roles(group: &str, inside: &str, outside: &str) -> String {
    format!(
        "
type: object
properties:
  ROLES:
    type: array
    items:
      type: object
      properties: {{ROLE: {{type: string}}, PROJECT: {{type: string}}, {group}: {{type: string}}}}
      required: [ROLE]
{inside}{outside}"
    )
}

const TOP_LEVEL: &str = "property_groups: [
  role-project: {
    properties: [ROLES.ROLE,ROLES.PROJECT],
    operator: AND
  },
  role-group: {
    properties: [ROLES.ROLE, ROLES.GROUP],
    operator: AND
  },
  either-group: {
    properties: [property_groups.role-project,
                 property_groups.role-group],
    operator: OR
  }
]";

const ROOT_LEVEL: &str = "      property_groups: [
        role-project: {
          properties: [ROLE, PROJECT],
          operator: AND
        },
        role-group: {
          properties: [ROLE, GROUP],
          operator: AND
        },
        either-group: {
          properties: [property_groups.role-project,
                       property_groups.role-group],
          operator: OR
        }
      ]
";

/// "either ROLE and PROJECT or ROLE and DOMAIN needs to provided": the groups are equivalent in
/// both positions.
#[test]
fn roles_have_a_project_or_a_group() {
    let refused = |line: i64, item: usize| {
        format!(
            "{line} property-group-violation: `.ROLES[{item}]` of `example/Resource/v1` has none \
             of `property_groups.role-project`, `property_groups.role-group`, but property group \
             `either-group` requires one"
        )
    };
    for schema in [
        roles("GROUP", "", TOP_LEVEL),
        roles("GROUP", ROOT_LEVEL, ""),
    ] {
        with_schema(
            &schema,
            &[
                ("ROLES: [{ROLE: r, PROJECT: p}]", &[]),
                ("ROLES: [{ROLE: r, GROUP: g}]", &[]),
                ("ROLES: [{ROLE: r, PROJECT: p, GROUP: g}]", &[]),
                ("ROLES: []", &[]),
                ("other: 1", &[]),
                (
                    "ROLES:\n- {ROLE: r, PROJECT: p}\n- {ROLE: r}",
                    &[&refused(3, 1)],
                ),
                // Items are checked separately.
                (
                    "ROLES:\n- {ROLE: r}\n- {PROJECT: p}",
                    &[&refused(2, 0), &refused(3, 1)],
                ),
            ],
        );
    }
}

/// As written, the example names an unknown property.
#[test]
fn example_as_written_names_an_unknown_property() {
    let data = "ROLES: [{ROLE: r}]";
    with_schema(
        &roles("DOMAIN", "", TOP_LEVEL),
        &[(
            data,
            &[
                "15 invalid-property-group: property group `role-group` of DataSchema \
               `example/Resource/v1` refers to the unknown property `ROLES.GROUP`",
            ],
        )],
    );
    with_schema(
        &roles("DOMAIN", ROOT_LEVEL, ""),
        &[(
            data,
            &[
                "15 invalid-property-group: property group `role-group` of DataSchema \
               `example/Resource/v1` refers to `GROUP`, which is neither a property nor a group",
            ],
        )],
    );
}

/// "the first property in the pattern should be one of the top level property"; inside, "one of its
/// peer property name".
#[test]
fn paths_are_relative_to_the_location_of_the_groups() {
    let top = "property_groups:\n  - g: {properties: [ROLE, ROLES], operator: or}";
    let inside =
        "      property_groups:\n        - g: {properties: [ROLES.ROLE, PROJECT], operator: or}\n";
    with_schema(
        &roles("GROUP", "", top),
        &[(
            "ROLES: []",
            &[
                "10 invalid-property-group: property group `g` of DataSchema `example/Resource/v1` \
               refers to `ROLE`, which is neither a property nor a group",
            ],
        )],
    );
    with_schema(
        &roles("GROUP", inside, ""),
        &[(
            "ROLES: []",
            &[
                "10 invalid-property-group: property group `g` of DataSchema `example/Resource/v1` \
               refers to the unknown property `ROLES.ROLE`",
            ],
        )],
    );
}

/// "`client_plugin_supported = [1.2]`", as YAML, and the key of the preceding text,
/// "`client_plugin_supported_since`".
#[test]
fn versions_support_properties() {
    let schema = |versions: &str| {
        format!(
            "
type: object
properties: {{PropertyA: {{}}, PropertyB: {{}}}}
property_groups: [
  group1: {{
    properties: [PropertyA,PropertyB],
    operator: OR,
    {versions}
  }}
]"
        )
    };
    let refused = |version: &str| {
        vec![format!(
            "1 unsupported-property: the data of `example/Resource/v1` has `PropertyA`, which \
             version {version} does not support"
        )]
    };
    let found = |versions: &str, present: &str| {
        let configuration = format!("client-version: \"{present}\"\n");
        findings(Some(&configuration), &schema(versions), "PropertyA: 1")
    };
    let (exactly, since) = (
        "client_plugin_supported: [1.2]",
        "client_plugin_supported_since: 1.2",
    );
    assert_eq!(found(exactly, "1.2"), Vec::<String>::new());
    assert_eq!(found(exactly, "1.1"), refused("1.1"));
    assert_eq!(found(exactly, "1.3"), refused("1.3"));
    assert_eq!(found(since, "1.1"), refused("1.1"));
    assert_eq!(found(since, "1.2"), Vec::<String>::new());
    assert_eq!(found(since, "1.10"), Vec::<String>::new());
    // Without a configured version, all properties are supported.
    assert_eq!(
        findings(None, &schema(exactly), "PropertyA: 1"),
        Vec::<String>::new()
    );
}
