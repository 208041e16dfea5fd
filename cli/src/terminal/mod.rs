//! What a person sees and types at a terminal.

mod prompts;
mod streams;

pub(crate) use prompts::{can_ask, confirm};
pub(crate) use streams::{data_stdout, stderr, stdout};
