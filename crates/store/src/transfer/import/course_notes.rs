//! Course notes of experiments in a file.

use spelrum_model::course::{Note, Noted};

use super::error::ImportError;
use super::source::{Source, SourceExperiment};
use crate::schema::file_fields::{NAME_BYTES_MAX, TEXT_BYTES_MAX, number, text};

impl Source {
    /// The course notes of an experiment.
    pub(super) fn notes(&self, experiment: &SourceExperiment) -> Result<Vec<Noted>, ImportError> {
        let found = self.all(
            "SELECT run, kind, step, trial, note FROM course_notes WHERE experiment_id = ?
            ORDER BY run, kind, step, trial",
            [experiment.id],
            |row| {
                let (kind, json) = (text(row, 1, NAME_BYTES_MAX)?, text(row, 4, TEXT_BYTES_MAX)?);
                let note = Note::read(&kind, (number(row, 2)?, number(row, 3)?), &json)
                    .map_err(|_| rusqlite::Error::InvalidQuery)?;
                Ok((number(row, 0)?, note))
            },
        )?;
        let unknown = || self.unknown(&experiment.name, "a note on its course");
        let noted =
            |(run, note): (u64, Option<Note>)| Ok(Noted { run, note: note.ok_or_else(unknown)? });
        found.into_iter().map(noted).collect()
    }
}
