//! Rejects paths that jsonpath-rust evaluates differently than RFC 9535 demands.

use jsonpath_rust::parser::model::{
    Comparable, Filter, FilterAtom, FnArg, Segment, Selector, Test, TestFunction,
};

type Checked = Result<(), &'static str>;

/// Checks all filters of a path.
///
/// # Errors
/// If one of them would be evaluated differently.
pub(super) fn check(segments: &[Segment]) -> Checked {
    segments.iter().flat_map(filters).try_for_each(check_filter)
}

fn filters(segment: &Segment) -> impl Iterator<Item = &Filter> {
    let selectors = super::selectors(segment).iter();
    selectors.filter_map(|selector| match selector {
        Selector::Filter(filter) => Some(filter),
        Selector::Name(_) | Selector::Wildcard | Selector::Index(_) | Selector::Slice(..) => None,
    })
}

fn check_filter(filter: &Filter) -> Checked {
    match filter {
        Filter::Or(filters) | Filter::And(filters) => filters.iter().try_for_each(check_filter),
        Filter::Atom(FilterAtom::Filter { expr, .. }) => check_filter(expr),
        Filter::Atom(FilterAtom::Test { expr, .. }) => match &**expr {
            // All but these return a logical value (RFC 9535, 2.4.9).
            Test::Function(function) if function.is_comparable() => {
                Err("the result of `length`, `count` and `value` must be compared")
            }
            test => check_test(test),
        },
        Filter::Atom(FilterAtom::Comparison(comparison)) => {
            let (left, right) = comparison.vals();
            check_comparable(left)?;
            check_comparable(right)
        }
    }
}

fn check_test(test: &Test) -> Checked {
    match test {
        // The library takes the value of `@` for a result of the filter.
        Test::RelQuery(segments) if segments.iter().take(1).flat_map(filters).next().is_some() => {
            Err("a filter directly after `@` is not supported")
        }
        Test::RelQuery(segments) => check(segments),
        Test::AbsQuery(query) => check(&query.segments),
        Test::Function(function) => check_function(function),
    }
}

fn check_comparable(side: &Comparable) -> Checked {
    match side {
        Comparable::Function(function) => check_function(function),
        Comparable::Literal(_) | Comparable::SingularQuery(_) => Ok(()),
    }
}

fn check_function(function: &TestFunction) -> Checked {
    match function {
        TestFunction::Custom(_, arguments) => arguments.iter().try_for_each(check_argument),
        TestFunction::Length(argument) => check_argument(argument),
        TestFunction::Value(argument) | TestFunction::Count(argument) => check_argument(argument),
        TestFunction::Search(text, pattern) | TestFunction::Match(text, pattern) => {
            check_argument(text)?;
            check_argument(pattern)
        }
    }
}

fn check_argument(argument: &FnArg) -> Checked {
    match argument {
        FnArg::Literal(_) => Ok(()),
        FnArg::Test(test) => check_test(test),
        FnArg::Filter(filter) => check_filter(filter),
    }
}
