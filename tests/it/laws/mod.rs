//! What holds of any input, whoever makes it up: the tests here, which generate
//! it, or the fuzz targets in `fuzz/`, which are given bytes. Nothing here
//! knows where its input comes from.

pub mod comparing;
pub mod merging;
pub mod reading;
