//! Violations of cloud-init's own JSON schema by `merge_how` and `merge_type`.
//!
//! The schema is stricter than the merge code and independent of it: at boot, cloud-init warns and
//! continues (`cloud-init.md` 4). It does not check the content of a specification written as a
//! string.

use std::sync::LazyLock;

use crate::schema::{Schema, Violation};
use crate::source::FileId;
use crate::yaml::{self, Node};

/// Returns the violations by the merge specifications in `data`, the mapping of a part. Locations
/// are in `data`; the keywords are in a schema text that users cannot see.
///
/// A specification is a string or a list. For anything else, and for an empty list, cloud-init
/// reports the violations of both forms; for any other list, those inside it.
pub fn violations(data: &Node) -> Vec<Violation> {
    KEYS.iter()
        .flat_map(|key| violations_at(key, data))
        .collect()
}

/// Keys of merge specifications.
const KEYS: [&str; 2] = ["merge_how", "merge_type"];

fn violations_at(key: &str, data: &Node) -> Vec<Violation> {
    let of = |form: &FormSchema| {
        let violations = form.violations(data).into_iter();
        violations
            .filter(|violation| violation.location.first_key() == Some(key))
            .collect::<Vec<_>>()
    };
    let as_text = of(&TEXT);
    let as_list = of(&LIST);
    if as_text.is_empty() || as_list.is_empty() {
        return Vec::new();
    }
    if as_list
        .iter()
        .any(|violation| violation.location.0.len() > 1)
    {
        return as_list;
    }
    [as_text, as_list].concat()
}

/// One form of a specification, as a schema for the mapping that contains it.
type FormSchema = LazyLock<Schema>;

static TEXT: FormSchema = LazyLock::new(|| compiled(TEXT_FORM));
static LIST: FormSchema = LazyLock::new(|| compiled(LIST_FORM));

fn compiled(text: &str) -> Schema {
    let mut documents = yaml::parse(FileId::default(), text).documents;
    let root = documents
        .pop()
        .expect("the built-in schema is valid YAML")
        .root;
    let (schema, problems) = Schema::compile(&root);
    assert!(problems.is_empty(), "the built-in schema compiles");
    schema
}

const TEXT_FORM: &str = "
properties:
  merge_how: {type: string}
  merge_type: {type: string}
";

const LIST_FORM: &str = "
properties:
  merge_how: &form
    type: array
    minItems: 1
    items:
      type: object
      additionalProperties: false
      required: [name, settings]
      properties:
        name:
          type: string
          enum: [list, dict, str]
        settings:
          type: array
          items:
            type: string
            enum:
            - allow_delete
            - no_replace
            - replace
            - append
            - prepend
            - recurse_dict
            - recurse_list
            - recurse_array
            - recurse_str
  merge_type: *form
";
