//! `unsupported-property`: a property that the version of the program that
//! reads it does not support.

super::rule!(
    "unsupported-property",
    Error,
    "a property that the version of what reads it does not support"
);
