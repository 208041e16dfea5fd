//! Places of engines: a number for each running process of an engine, so that concurrent ones share no
//! folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::spec::{EngineSpec, OptionValue, Options};
use crate::{gtp, xboard};

/// The placeholder for this number in engines files.
const SLOT: &str = "{slot}";

/// The places of all engines of a worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Arc<Mutex<BTreeMap<String, BTreeSet<u32>>>>);

/// A place, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    engine: String,
    number: u32,
}

impl Places {
    /// The first place of an engine, from 0, without a process.
    pub(crate) fn take(&self, engine: &str) -> Place {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = places.entry(engine.to_owned()).or_default();
        let number = (0..).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(number);
        Place { places: self.clone(), engine: engine.to_owned(), number }
    }
}

impl Place {
    /// Its number.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = places.get_mut(&self.engine) {
            taken.remove(&self.number);
        }
    }
}

impl EngineSpec {
    /// The engine for this place: with the number in its directory, arguments, environment, `set` options and
    /// `setup` commands wherever they contain `{slot}`.
    #[must_use]
    pub fn in_place(&self, number: u32) -> Self {
        let filled = |text: &String| text.replace(SLOT, &number.to_string());
        let directory = match self.directory.to_str() {
            Some(directory) => directory.replace(SLOT, &number.to_string()).into(),
            None => self.directory.clone(),
        };
        let environment = self.environment.iter();
        Self {
            directory,
            args: self.args.iter().map(filled).collect(),
            environment: environment.map(|(name, value)| (name.clone(), filled(value))).collect(),
            set: options_in_place(&self.set, number),
            gtp: gtp::Dialect {
                setup: self.gtp.setup.iter().map(filled).collect(),
                ..self.gtp.clone()
            },
            xboard: xboard::Dialect {
                setup: self.xboard.setup.iter().map(filled).collect(),
                ..self.xboard.clone()
            },
            ..self.clone()
        }
    }

    /// Whether its directory contains the placeholder, and so may have to be created.
    pub(crate) fn has_directory_for_each_place(&self) -> bool {
        self.directory.to_str().is_some_and(|path| path.contains(SLOT))
    }
}

/// These options with the number of a place for each `{slot}` in a text.
pub(crate) fn options_in_place(options: &Options, number: u32) -> Options {
    let filled = |value: &OptionValue| match value {
        OptionValue::Text(text) => OptionValue::Text(text.replace(SLOT, &number.to_string())),
        OptionValue::Flag(_) | OptionValue::Number(_) => value.clone(),
    };
    options.iter().map(|(name, value)| (name.clone(), filled(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::protocol::Protocol;
    use crate::spec::tests::plain;

    #[test]
    fn places_are_taken_from_the_first_that_is_free() {
        let places = Places::default();
        let [first, second] = [(); 2].map(|()| places.take("fish"));
        assert_eq!([first.number(), second.number(), places.take("bird").number()], [0, 1, 0]);
        drop(first);
        let again = places.take("fish");
        assert_eq!([again.number(), places.take("fish").number()], [0, 2]);
    }

    #[test]
    fn all_that_may_name_a_folder_has_the_number_of_the_place() {
        let text = |value: &str| OptionValue::Text(value.to_owned());
        let spec = EngineSpec {
            directory: "/engines/{slot}".into(),
            args: vec!["--log=log-{slot}.txt".to_owned()],
            environment: [("LEARN".to_owned(), "{slot}/learn".to_owned())].into(),
            set: [("Debug Log File".to_owned(), text("{slot}.log"))].into(),
            gtp: gtp::Dialect { setup: vec!["log {slot}".to_owned()], ..gtp::Dialect::default() },
            xboard: xboard::Dialect { setup: vec!["book {slot}".to_owned()], features: true },
            ..plain("fish", Protocol::Uci, "/fish".into())
        };
        let placed = spec.in_place(12);
        assert_eq!(placed.directory, Path::new("/engines/12"));
        assert_eq!(placed.args, ["--log=log-12.txt"]);
        assert_eq!(placed.environment["LEARN"], "12/learn");
        assert_eq!(placed.set["Debug Log File"], text("12.log"));
        assert_eq!(placed.gtp.setup, ["log 12"]);
        assert_eq!(placed.xboard.setup, ["book 12"]);
        assert!(spec.has_directory_for_each_place() && !placed.has_directory_for_each_place());
    }
}
