//! The schema, and the encoding of values in its columns.
//!
//! | file | subject |
//! |---|---|
//! | `migrations` | the schema, from the first migration on |
//! | `numbers`, `encoding`, `experiment_states`, `machine_columns`, `settings` | values as columns and parameters |
//! | `file_fields` | fields of an untrusted file |
//! | `experiment_views` | each experiment's own views |

pub(crate) mod encoding;
pub(crate) mod experiment_states;
pub(crate) mod experiment_views;
pub(crate) mod file_fields;
pub(crate) mod machine_columns;
pub(crate) mod migrations;
pub(crate) mod numbers;
pub(crate) mod settings;
