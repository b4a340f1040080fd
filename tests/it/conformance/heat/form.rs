//! Whether Heat's own code accepts a definition: the class `PropertiesGroup` of heat, which only
//! validates definitions (`heat-property-groups.md` 1).

use layercake::yaml::{Node, Value};

/// Reason for which Heat's code refuses a definition, in the order of its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormFault {
    /// It is not a mapping, but of this Python type.
    NotAMapping(&'static str),
    /// It has no key: the code raises an exception.
    Empty,
    /// It has more than one key.
    SeveralKeys,
    /// Its key is not `AND`, `OR` or `XOR`, in upper case.
    NoOperator,
    /// The value of its key is not a list.
    NotAList,
    /// An item of the list is neither a list of strings nor a definition.
    BadItem,
}

impl FormFault {
    /// Heat's message, or for [`FormFault::Empty`], the text of its exception.
    pub fn message(self) -> String {
        let reason = match self {
            FormFault::Empty => return "StopIteration".to_owned(),
            FormFault::NotAMapping(kind) => {
                return format!(
                    "{PREFIX} Schema should be a mapping, found <class '{kind}'> instead."
                );
            }
            FormFault::SeveralKeys => "Schema should be one-key dict.",
            FormFault::NoOperator => {
                "Properties group schema key should be one of the operators: AND, OR, XOR."
            }
            FormFault::NotAList => {
                "Schemas' values should be lists of properties names or nested schemas."
            }
            FormFault::BadItem => {
                "List items should be properties list-type names with format \"[prop, prop_child, \
                 prop_sub_child, ...]\" or nested properties group schemas."
            }
        };
        format!("{PREFIX} {reason}")
    }
}

const PREFIX: &str = "Properties group schema incorrectly specified.";

/// First reason for which Heat's code refuses a definition; `None` if it accepts it. The YAML
/// parser limits the depth.
pub fn form_fault(definition: &Node) -> Option<FormFault> {
    let Some(mapping) = definition.as_mapping() else {
        return Some(FormFault::NotAMapping(python_type(&definition.value)));
    };
    let mut entries = mapping.iter();
    let Some((key, value)) = entries.next() else {
        return Some(FormFault::Empty);
    };
    if entries.next().is_some() {
        return Some(FormFault::SeveralKeys);
    }
    if !key
        .as_str()
        .is_some_and(|word| ["AND", "OR", "XOR"].contains(&word))
    {
        return Some(FormFault::NoOperator);
    }
    let Some(items) = value.as_sequence() else {
        return Some(FormFault::NotAList);
    };
    items.iter().find_map(item_fault)
}

fn item_fault(item: &Node) -> Option<FormFault> {
    match &item.value {
        Value::Mapping(_) => form_fault(item),
        Value::Sequence(path) if path.iter().all(|part| part.as_str().is_some()) => None,
        _ => Some(FormFault::BadItem),
    }
}

/// Name of the class of a value in PyYAML.
fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::BigInt(_) => "int",
        Value::Float(_) => "float",
        Value::Date(_) => "datetime.date",
        Value::Timestamp(_) => "datetime.datetime",
        Value::Binary(_) => "bytes",
        Value::Set(_) => "set",
        Value::String(_) => "str",
        Value::Pairs(_) | Value::Sequence(_) => "list",
        Value::Mapping(_) => "dict",
    }
}
