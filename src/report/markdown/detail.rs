//! How much a page tells: levels, from all of it to what always fits.

/// What is told, and how many of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Whether routes are told step by step.
    pub(super) routes: Told,
    /// Whether sites are named, or counted.
    pub(super) members: Told,
    /// Whether values are shown.
    pub(super) values: Told,
    /// So many rows of groups in all.
    pub(super) groups: usize,
    /// So many edits.
    pub(super) edits: usize,
    /// So many findings of each severity.
    pub(super) findings: usize,
    /// So many entries of any other list.
    pub(super) others: usize,
    /// So many characters of any text of others.
    pub(super) text: usize,
    /// So many bytes of an address; places with longer ones are no links.
    pub(super) address: usize,
}

/// Whether something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Yes,
    No,
}

const WHOLE: Detail = Detail {
    routes: Told::Yes,
    members: Told::Yes,
    values: Told::Yes,
    groups: usize::MAX,
    edits: usize::MAX,
    findings: usize::MAX,
    others: usize::MAX,
    text: 1_000,
    address: 2_000,
};

const WITHOUT_ROUTES: Detail = Detail { routes: Told::No, ..WHOLE };
const WITHOUT_MEMBERS: Detail = Detail { members: Told::No, ..WITHOUT_ROUTES };
const WITHOUT_VALUES: Detail = Detail { values: Told::No, ..WITHOUT_MEMBERS };
const FEWER_GROUPS: Detail = Detail { groups: 50, ..WITHOUT_VALUES };
const FEWER_EDITS: Detail = Detail { edits: 100, ..FEWER_GROUPS };

/// What gives way first is what a reader finds elsewhere most easily: routes, then
/// the names of sites, values, groups and edits. Findings are last. The last
/// level is a few thousand bytes whatever the report holds.
pub(super) const LEVELS: [Detail; 11] = [
    WHOLE,
    WITHOUT_ROUTES,
    WITHOUT_MEMBERS,
    WITHOUT_VALUES,
    FEWER_GROUPS,
    FEWER_EDITS,
    Detail { findings: 1_000, others: 100, text: 400, address: 500, ..FEWER_EDITS },
    Detail { findings: 200, others: 50, edits: 50, text: 200, address: 500, ..FEWER_EDITS },
    Detail { findings: 50, others: 20, edits: 20, text: 200, address: 500, ..FEWER_EDITS },
    Detail {
        findings: 15,
        others: 10,
        edits: 10,
        groups: 20,
        text: 100,
        address: 300,
        ..FEWER_EDITS
    },
    Detail { findings: 3, others: 3, edits: 3, groups: 5, text: 40, address: 0, ..FEWER_EDITS },
];
