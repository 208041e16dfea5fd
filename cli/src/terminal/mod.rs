//! Input and output at a terminal.

pub(crate) mod interrupt;
pub(crate) mod logging;
pub(crate) mod notices;
pub(crate) mod panic;
pub(crate) mod progress;
mod prompts;
mod streams;
pub(crate) mod waiting;

pub(crate) use prompts::{can_ask, confirm};
pub(crate) use streams::{data_stdout, stderr, stdout};
