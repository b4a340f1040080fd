//! Rejects paths that jsonpath-rust evaluates differently than RFC 9535 demands.

use jsonpath_rust::parser::model::{
    Comparable, Comparison, Filter, FilterAtom, FnArg, Segment, Selector, Test, TestFunction,
};

type Checked = Result<(), &'static str>;

/// Checks all filters of a path.
///
/// # Errors
/// If one of them would be evaluated differently.
pub(super) fn check(segments: &[Segment]) -> Checked {
    segments.iter().flat_map(filters).try_for_each(check_filter)
}

fn filters(segment: &Segment) -> Vec<&Filter> {
    let selectors = match segment {
        Segment::Descendant(inner) => return filters(inner),
        Segment::Selector(selector) => std::slice::from_ref(selector),
        Segment::Selectors(selectors) => selectors,
    };
    let filters = selectors.iter().filter_map(|selector| match selector {
        Selector::Filter(filter) => Some(filter),
        Selector::Name(_) | Selector::Wildcard | Selector::Index(_) | Selector::Slice(..) => None,
    });
    filters.collect()
}

fn check_filter(filter: &Filter) -> Checked {
    match filter {
        Filter::Or(filters) | Filter::And(filters) => filters.iter().try_for_each(check_filter),
        Filter::Atom(FilterAtom::Filter { expr, .. }) => check_filter(expr),
        Filter::Atom(FilterAtom::Test { expr, .. }) => match &**expr {
            Test::Function(function) if !is_logical(function) => {
                Err("the result of `length`, `count` and `value` must be compared")
            }
            test => check_test(test),
        },
        Filter::Atom(FilterAtom::Comparison(comparison)) => check_comparison(comparison),
    }
}

/// Whether a function returns a logical value (RFC 9535, 2.4.9).
fn is_logical(function: &TestFunction) -> bool {
    match function {
        TestFunction::Length(_) | TestFunction::Value(_) | TestFunction::Count(_) => false,
        TestFunction::Custom(..) | TestFunction::Search(..) | TestFunction::Match(..) => true,
    }
}

fn check_test(test: &Test) -> Checked {
    match test {
        // The library takes the value of `@` for a result of the filter.
        Test::RelQuery(segments) if segments.first().is_some_and(|it| !filters(it).is_empty()) => {
            Err("a filter directly after `@` is not supported")
        }
        Test::RelQuery(segments) => check(segments),
        Test::AbsQuery(query) => check(&query.segments),
        Test::Function(function) => check_function(function),
    }
}

fn check_comparison(comparison: &Comparison) -> Checked {
    let (Comparison::Eq(left, right)
    | Comparison::Ne(left, right)
    | Comparison::Gt(left, right)
    | Comparison::Gte(left, right)
    | Comparison::Lt(left, right)
    | Comparison::Lte(left, right)) = comparison;
    [left, right].into_iter().try_for_each(|side| match side {
        Comparable::Function(function) => check_function(function),
        Comparable::Literal(_) | Comparable::SingularQuery(_) => Ok(()),
    })
}

fn check_function(function: &TestFunction) -> Checked {
    let arguments: Vec<&FnArg> = match function {
        TestFunction::Custom(_, arguments) => arguments.iter().collect(),
        TestFunction::Length(argument) => vec![argument],
        TestFunction::Value(argument) | TestFunction::Count(argument) => vec![argument],
        TestFunction::Search(text, pattern) | TestFunction::Match(text, pattern) => {
            vec![text, pattern]
        }
    };
    arguments
        .into_iter()
        .try_for_each(|argument| match argument {
            FnArg::Literal(_) => Ok(()),
            FnArg::Test(test) => check_test(test),
            FnArg::Filter(filter) => check_filter(filter),
        })
}
