//! Whole databases and whole experiments as files.
//!
//! | file | subject |
//! |---|---|
//! | `backup` | copying the whole database while others write |
//! | `export`, `import` | experiments as a database of their own, and back |
//! | `rescue`, `salvage` | saving the contents of a moved, deleted or damaged database |

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod rescue;
pub(crate) mod salvage;
