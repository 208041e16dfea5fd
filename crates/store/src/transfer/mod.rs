//! Whole databases and whole experiments as files.
//!
//! | file | subject |
//! |---|---|
//! | `backup` | a copy of the whole, while others write |
//! | `export`, `import` | experiments as a database of their own, and back |
//! | `rescue`, `salvage` | saving what a moved, deleted or damaged database still has |

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod rescue;
pub(crate) mod salvage;
