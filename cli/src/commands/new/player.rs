//! A player without packages: its source, an engines file that names it, and a sweep in which it plays.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The languages of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Language {
    Python,
    C,
    Rust,
}

/// The files of a player.
#[derive(Serialize)]
pub(super) struct PlayerFiles {
    language: Language,
    name: String,
    source: PathBuf,
    engines: PathBuf,
    sweep: PathBuf,
}

const SWEEP: &str = include_str!("../../../templates/players/sweep.toml");

impl Language {
    /// The file, if no other is named.
    pub(super) fn usual_file(self) -> PathBuf {
        PathBuf::from(format!("mine.{}", self.extension()))
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::C => "c",
            Self::Rust => "rs",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Python => include_str!("../../../templates/players/player.py"),
            Self::C => include_str!("../../../templates/players/player.c"),
            Self::Rust => include_str!("../../../templates/players/player.rs"),
        }
    }
}

impl PlayerFiles {
    /// The files beside a player's source.
    ///
    /// # Errors
    /// If the source's name is not one of a player in this language.
    pub(super) fn new(language: Language, source: &Path) -> Result<Self> {
        let failed = |problem: &str| {
            let usual = language.usual_file();
            CliError::new(Exit::Input, format!("name a player after {}", source.display()))
                .because(problem)
                .help(format!("name a file such as {}", usual.display()))
        };
        let name = source.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        // Names of crates begin with a letter.
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
            return Err(failed(
                "a player's name is of letters, digits, `-` and `_`, a letter first",
            ));
        }
        if source.extension() != Some(OsStr::new(language.extension())) {
            let problem = format!("its source ends in .{}", language.extension());
            return Err(failed(&problem));
        }
        Ok(Self {
            language,
            engines: source.with_file_name(format!("{name}.engines.toml")),
            sweep: source.with_extension("toml"),
            source: source.to_owned(),
            name,
        })
    }

    /// Each file with its text.
    pub(super) fn texts(&self) -> [(&Path, String); 3] {
        let Self { language, name, source, engines, sweep } = self;
        let named = |text: &str| text.replace("PLAYER", name);
        let sweep_text = named(SWEEP)
            .replace("\"NAME\"", &format!("\"{name}\""))
            .replace("SWEEP", &sweep.display().to_string())
            .replace("ENGINES", &engines.display().to_string());
        [
            (source.as_path(), named(language.text())),
            (engines.as_path(), self.engines_text()),
            (sweep.as_path(), sweep_text),
        ]
    }

    fn engines_text(&self) -> String {
        let Self { language, name, .. } = self;
        let program = match language {
            Language::Python => {
                format!("command = \"python3\"\nargs = [\"{name}.py\"]\nfiles = [\"{name}.py\"]\n")
            }
            Language::C | Language::Rust => format!("command = \"./{name}\"\n"),
        };
        format!(
            "# Where the player {name} is on this machine (docs/engines.md has all keys).\n\n\
             [engines.{name}]\nprotocol = \"lines\"\n{program}"
        )
    }

    /// The command that compiles the source.
    fn compile(&self) -> Option<String> {
        let source = self.source.display();
        let program = self.source.with_extension("");
        let program = program.display();
        match self.language {
            Language::Python => None,
            Language::C => Some(format!("cc -O2 -o {program} {source}")),
            Language::Rust => Some(format!("rustc --edition 2021 -O -o {program} {source}")),
        }
    }

    /// Writes what was done, and what comes next.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { name, source, engines, sweep, .. } = self;
        let [source, engines, sweep] = [source, engines, sweep].map(|path| path.display());
        writeln!(out, "wrote {source}, the player {name}")?;
        writeln!(out, "wrote {engines}, the engines file that names it")?;
        writeln!(out, "wrote {sweep}, a sweep in which it plays\n\nnext:")?;
        let commands = [
            self.compile().map(|command| (command, "compiles it")),
            Some((format!("spelrum engine check --engines {engines}"), "tries it in every game")),
            Some((format!("spelrum run {sweep} --engines {engines}"), "plays the sweep")),
        ];
        let commands: Vec<_> = commands.into_iter().flatten().collect();
        let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        for (command, meaning) in commands {
            writeln!(out, "  {command:<width$}  {meaning}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use spelrum_sweep::{SweepText, plan_sweep};

    use super::*;

    #[test]
    fn every_sweep_is_planned_and_names_the_player() {
        for language in Language::value_variants() {
            let source = PathBuf::from("dir/my-Player_2").with_extension(language.extension());
            let files = PlayerFiles::new(*language, &source).unwrap();
            let [(_, text), (engines, _), (sweep, planned)] = files.texts();
            let plan = plan_sweep(&SweepText::new("my.toml", planned.clone()));
            assert_eq!(plan.unwrap().name, "my-Player_2");
            assert!(text.contains("my-Player_2"));
            let command =
                format!("spelrum run {} --engines {}", sweep.display(), engines.display());
            assert!(planned.contains(&command), "{planned}");
            for left in ["PLAYER", "NAME", "SWEEP", "ENGINES"] {
                assert!(!planned.contains(left) && !text.contains(left), "{left}");
            }
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in
            ["mine", "mine.c", "2.py", ".py", "a b.py", "a\".py", "é.py", "", "..", "a.b.py"]
        {
            assert!(PlayerFiles::new(Language::Python, Path::new(name)).is_err(), "{name}");
        }
    }
}
