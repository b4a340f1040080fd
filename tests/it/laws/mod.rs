//! Laws that hold for any input. Tests generate the input; the fuzz targets in `fuzz/` derive it
//! from bytes. Nothing here depends on its origin.

pub mod comparing;

pub use layercake_engine_testing as merging;
pub use layercake_yaml_testing::reading;
