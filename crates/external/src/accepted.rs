//! Programs that this machine accepts from a coordinator, as its engines file allows.
//!
//! A program comes alone: how it is spoken to, what may be set and what it may use is the machine's to say.

use std::path::PathBuf;

use spelrum_programs::{Programs, Sha256Hex};

use crate::spec::{EngineSpec, is_engine_name};

/// Pushed programs that a machine accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedPrograms {
    /// Any of them, without its program.
    pub(crate) engine: EngineSpec,
    /// The names under which they may come; every name, if absent.
    pub(crate) names: Option<Vec<String>>,
    /// The folder in which they are kept.
    pub(crate) folder: PathBuf,
    /// Bytes of all of them together.
    pub(crate) size_max: u64,
}

impl AcceptedPrograms {
    /// The names under which they may come; every name, if absent.
    #[must_use]
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Whether a program may come under this name, which becomes that of its logs.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        let is_listed = |names: &Vec<String>| names.iter().any(|listed| listed == name);
        is_engine_name(name) && self.names.as_ref().is_none_or(is_listed)
    }

    /// Where they are kept.
    #[must_use]
    pub fn programs(&self) -> Programs {
        Programs::new(self.folder.clone(), self.size_max)
    }

    /// A program of this hash as the engine of this name: without arguments, in folders of its own.
    #[must_use]
    pub fn engine(&self, name: &str, sha256: &Sha256Hex) -> EngineSpec {
        let programs = self.programs();
        EngineSpec {
            name: name.to_owned(),
            command: programs.path(sha256),
            directory: programs.run_folder(sha256).join("{slot}"),
            ..self.engine.clone()
        }
    }
}
