//! The Syzygy tables that this machine's engines file names.

use std::path::PathBuf;

use spelrum_external::EngineFile;
use spelrum_model::labels::{Label, SYZYGY_LABEL};
use spelrum_syzygy::{PIECES_MAX, Tables};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The tables of a machine, and what they are good for.
#[derive(Debug)]
pub(crate) struct SyzygyTables {
    tables: Tables,
    folders: Vec<PathBuf>,
}

impl SyzygyTables {
    /// Lists the tables in the folders that an engines file names; `None` if it names none.
    ///
    /// # Errors
    /// If a folder cannot be listed, or there is no table in any.
    pub(crate) fn open(file: Option<&EngineFile>) -> Result<Option<Self>> {
        let folders = file.map(EngineFile::syzygy).unwrap_or_default();
        if folders.is_empty() {
            return Ok(None);
        }
        let failed = || CliError::new(Exit::Input, "open the Syzygy tables");
        let tables = Tables::open(folders).map_err(|(folder, error)| {
            failed()
                .because(format!("cannot list {}: {error}", folder.display()))
                .help("correct `path` below [syzygy] in the engines file")
        })?;
        let folders = folders.to_vec();
        let opened = Self { tables, folders };
        if (3..=PIECES_MAX).all(|pieces| opened.tables.counts(pieces) == [0, 0]) {
            return Err(failed()
                .because(format!("there are no .rtbw and .rtbz files in {}", opened.places()))
                .help("name the folders with these files in `path` below [syzygy] in the engines file"));
        }
        Ok(Some(opened))
    }

    fn places(&self) -> String {
        let folders = self.folders.iter().map(|folder| folder.display().to_string());
        folders.collect::<Vec<_>>().join(", ")
    }

    /// The numbers of tables by their pieces, and the games that they are good for, in one line.
    pub(crate) fn describe(&self) -> String {
        let counts = (3..=PIECES_MAX).map(|pieces| (pieces, self.tables.counts(pieces)));
        let counts = counts.filter(|(_, counts)| *counts != [0, 0]).map(|(pieces, [wdl, dtz])| {
            let all = Tables::materials(pieces);
            format!("{wdl} .rtbw and {dtz} .rtbz of {all} with {pieces} pieces")
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        let complete = self.tables.complete_pieces();
        let missing = (3..=PIECES_MAX).find_map(|pieces| self.tables.first_missing(pieces));
        let use_text = match (complete, missing) {
            (0, Some(missing)) => format!("no game can end by them: {missing} is missing"),
            (_, Some(missing)) => {
                format!("games end by those of up to {complete} pieces; {missing} is missing")
            }
            (_, None) => format!("games end by those of up to {complete} pieces"),
        };
        format!("Syzygy tables: {counts}; {use_text}")
    }

    /// The label with which a worker offers them; `None` if they are not complete for any number of pieces.
    pub(crate) fn label(&self) -> Option<Label> {
        let pieces = self.tables.complete_pieces();
        let (name, value) = (SYZYGY_LABEL.to_owned(), pieces.to_string());
        (pieces > 0).then_some(Label { name, value })
    }

    /// Installs them for the games that this process plays.
    pub(crate) fn install(self) {
        // A process reads one engines file.
        spelrum_worker::install_syzygy(self.tables);
    }
}
