//! A database that several coordinators share: one of them writes, and each of its transactions goes into a journal
//! before it is committed here; the others apply the journal to copies of their own.

pub mod journal;
