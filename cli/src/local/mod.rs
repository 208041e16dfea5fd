//! Work that is done in this process and on this machine.

pub(crate) mod replay;
