//! `unsupported-property`: property that the program version in use does not support.

super::rule!(
    "unsupported-property",
    Error,
    "property that the program version in use does not support"
);
