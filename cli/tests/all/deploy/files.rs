//! The files of `deploy/` as they are read.

use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::root;

/// The user of the image, and of everything that is started from it.
pub(super) const USER: u32 = 65_532;

/// The name and version of the image.
pub(super) const IMAGE: &str = concat!("spelrum:", env!("CARGO_PKG_VERSION"));

/// A file in `deploy/`.
pub(super) fn path(name: &str) -> PathBuf {
    root().join("deploy").join(name)
}

/// Its text.
pub(super) fn text(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Its documents of YAML.
pub(super) fn documents(name: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A value that must be there, by its JSON pointer.
#[track_caller]
pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or_else(|| panic!("there is no {pointer} in {value:#}"))
}

/// A list of texts.
#[track_caller]
pub(super) fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    value.as_array().unwrap().iter().map(text).collect()
}
