//! `spelrum new`: a commented sweep to start from, or a player.

mod player;

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use spelrum_engine::nearest;
use spelrum_report::data::write_json;
use spelrum_sweep::check_experiment_name;

use self::player::{Language, PlayerFiles};
use super::schema;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;

const EXAMPLES: &str = "\
The file says what each line of it is for, and runs as it is; match, which is about two external engines, needs \
an engines file that names their programs, and shows one. Beside it, sweep.schema.json lets \
editors that know TOML (taplo, Even Better TOML) complete, explain and check what you write. \
docs/sweeps.md describes all that a sweep may say.

With --player it writes a player of every game instead, which needs no packages and speaks the protocol of lines \
(docs/lines.md): one file of source, an engines file that names it, and a sweep in which it plays.

Examples:
  spelrum new                              (first.toml: it takes seconds)
  spelrum new ladder
  spelrum new depth sweeps/my-study.toml   (the experiment is named my-study)
  spelrum new --list
  spelrum new --player python              (mine.py, mine.engines.toml and mine.toml)
  spelrum new --player c my-player.c";

/// Write a commented sweep to start from, or a player
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct New {
    /// The template; see --list [default: first]
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// The file; it names the experiment too [default: the template's name with .toml]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write a player instead, in this language; with --player, FILE is the only name, and the player's [default: mine
    /// with the language's extension]
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "list")]
    player: Option<Language>,
    /// Only list the templates
    #[arg(long)]
    list: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A sweep to start from.
struct Template {
    name: &'static str,
    /// A sweep that runs unchanged; its experiment has the template's name.
    text: &'static str,
}

/// The templates, in the order in which a newcomer meets them.
const TEMPLATES: [Template; 7] = [
    Template { name: "first", text: include_str!("../../templates/first.toml") },
    Template { name: "depth", text: include_str!("../../templates/depth.toml") },
    Template { name: "time", text: include_str!("../../templates/time.toml") },
    Template { name: "time-odds", text: include_str!("../../templates/time-odds.toml") },
    Template { name: "ladder", text: include_str!("../../templates/ladder.toml") },
    Template { name: "tuning", text: include_str!("../../templates/tuning.toml") },
    Template { name: "match", text: include_str!("../../templates/match.toml") },
];

/// The engines file that templates name in their comments.
const ENGINES_FILE: &str = "engines.toml";

/// The schema beside a sweep, by which editors check it.
const SCHEMA_FILE: &str = "sweep.schema.json";

#[derive(Serialize)]
struct Listed {
    template: &'static str,
    description: &'static str,
}

#[derive(Serialize)]
struct Written<'a> {
    file: String,
    name: &'a str,
    schema: String,
}

impl New {
    /// Writes the sweep, or lists the templates.
    pub(crate) fn run(self) -> Result<Exit> {
        if self.list {
            return self.print_list();
        }
        if let Some(language) = self.player {
            return self.write_player(language);
        }
        let wanted = self.template.as_deref().unwrap_or(TEMPLATES[0].name);
        let Some(template) = TEMPLATES.iter().find(|template| template.name == wanted) else {
            return Err(unknown(wanted));
        };
        let in_this_directory = || PathBuf::from(format!("{}.toml", template.name));
        let file = self.file.clone().unwrap_or_else(in_this_directory);
        let name = experiment_name(&file)?;
        write_file(&file, &template.named(name, &file), self.force)
            .map_err(|error| not_written(&file, error))?;
        let schema = schema_beside(&file)?;
        self.print_written(template, &file, name, &schema)
    }

    fn write_player(&self, language: Language) -> Result<Exit> {
        if self.file.is_some() {
            return Err(CliError::new(Exit::Usage, "write a player")
                .because("--player takes one name, that of the file")
                .help("name the file alone: spelrum new --player python mine.py"));
        }
        let file = self.template.as_ref().map_or_else(|| language.usual_file(), PathBuf::from);
        let files = PlayerFiles::new(language, &file)?;
        let texts = files.texts();
        // All or none.
        if let Some((path, _)) = texts.iter().find(|(path, _)| path.exists() && !self.force) {
            return Err(not_written(path, ErrorKind::AlreadyExists.into()));
        }
        for (path, text) in texts {
            write_file(path, &text, self.force).map_err(|error| not_written(path, error))?;
        }
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &files)?;
        } else {
            files.print(&mut out)?;
        }
        Ok(Exit::Success)
    }

    fn print_list(&self) -> Result<Exit> {
        let mut out = terminal::stdout();
        let listed = TEMPLATES.each_ref().map(|template| Listed {
            template: template.name,
            description: template.description(),
        });
        if self.json {
            write_json(&mut out, &listed)?;
            return Ok(Exit::Success);
        }
        for Listed { template, description } in listed {
            writeln!(out, "{template:<10} {description}")?;
        }
        Ok(Exit::Success)
    }

    fn print_written(
        &self,
        template: &Template,
        file: &Path,
        name: &str,
        schema: &Schema,
    ) -> Result<Exit> {
        let mut out = terminal::stdout();
        let shown = file.display();
        if self.json {
            let schema = schema.path.display().to_string();
            write_json(&mut out, &Written { file: shown.to_string(), name, schema })?;
            return Ok(Exit::Success);
        }
        writeln!(out, "wrote {shown}, the experiment {name}")?;
        let schema_file = schema.path.display();
        match schema.state {
            SchemaState::Written => {
                writeln!(out, "wrote {schema_file}, by which editors complete and check it")?;
            }
            SchemaState::Same => {}
            SchemaState::Other => writeln!(
                out,
                "left {schema_file} as it is, though it is of another version; to replace it: \
                 spelrum schema > {schema_file}"
            )?,
        }
        writeln!(out, "\nnext:")?;
        let (engines, dry_run) = match template.needs_engines() {
            true => {
                writeln!(out, "  write {ENGINES_FILE} with your engines, as {shown} shows")?;
                (format!(" --engines {ENGINES_FILE}"), "tries the engines")
            }
            false => (String::new(), "says how long it takes"),
        };
        let commands = [
            (format!("spelrum submit {shown}{engines} --dry-run"), dry_run),
            (format!("spelrum run {shown}{engines} --quick"), "plays a tenth of it"),
            (format!("spelrum run {shown}{engines}"), "plays it"),
        ];
        let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        for (command, meaning) in commands {
            writeln!(out, "  {command:<width$}  {meaning}")?;
        }
        Ok(Exit::Success)
    }
}

impl Template {
    /// The question that the template answers: its own description.
    fn description(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("description = \""));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or_default()
    }

    /// Whether external engines play in the template.
    fn needs_engines(&self) -> bool {
        self.text.contains("algorithm = \"uci\"")
    }

    /// The template's text for an experiment of this name, in this file.
    fn named(&self, name: &str, file: &Path) -> String {
        let template_name = self.name;
        let text = self
            .text
            .replace(&format!("\nname = \"{template_name}\"\n"), &format!("\nname = \"{name}\"\n"))
            .replace(&format!(" {template_name}.toml"), &format!(" {}", file.display()));
        format!("#:schema ./{SCHEMA_FILE}\n{text}")
    }
}

fn unknown(template: &str) -> CliError {
    let names = TEMPLATES.each_ref().map(|template| template.name);
    let help = if template.ends_with(".toml") {
        format!("name a template before the file: spelrum new first {template}")
    } else {
        match nearest(template, names) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the templates are {}", names.join(", ")),
        }
    };
    CliError::new(Exit::Input, "write a sweep")
        .because(format!("there is no template {template}"))
        .help(help)
}

/// The experiment's name, from its file.
fn experiment_name(file: &Path) -> Result<&str> {
    let failed = || CliError::new(Exit::Input, format!("name a sweep after {}", file.display()));
    let name = file.file_stem().and_then(OsStr::to_str).ok_or_else(|| {
        failed().because("its name is not text").help("name a file such as my-sweep.toml")
    })?;
    check_experiment_name(name)
        .map_err(|error| failed().because(error.problem).help(error.remedy))?;
    Ok(name)
}

/// The failure to write a file, which `--force` may overwrite.
pub(super) fn not_written(file: &Path, error: std::io::Error) -> CliError {
    let failed = CliError::new(Exit::Input, format!("write {}", file.display()));
    if error.kind() == ErrorKind::AlreadyExists {
        failed
            .because("it exists already")
            .help("name another file, or overwrite this one with --force")
    } else {
        failed.because(error).help("name a file in a directory that you may write to")
    }
}

/// Writes a file that must not exist yet unless it is to be overwritten.
pub(super) fn write_file(path: &Path, text: &str, overwrite: bool) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    if overwrite {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.write(true).open(path)?.write_all(text.as_bytes())
}

struct Schema {
    path: PathBuf,
    state: SchemaState,
}

enum SchemaState {
    Written,
    /// The file existed with the same text.
    Same,
    /// A file with another text existed.
    Other,
}

/// Writes the schema beside a sweep, unless the file exists.
fn schema_beside(file: &Path) -> Result<Schema> {
    let path = file.with_file_name(SCHEMA_FILE);
    let text = schema::text()?;
    let state = match write_file(&path, &text, false) {
        Ok(()) => SchemaState::Written,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let same = std::fs::read_to_string(&path).is_ok_and(|existing| existing == text);
            if same { SchemaState::Same } else { SchemaState::Other }
        }
        Err(error) => {
            let action = format!("write {}", path.display());
            return Err(CliError::new(Exit::Input, action).because(error));
        }
    };
    Ok(Schema { path, state })
}

#[cfg(test)]
mod tests {
    use spelrum_sweep::{SweepText, plan_sweep};

    use super::*;

    #[test]
    fn every_template_is_planned_under_any_name() {
        for template in &TEMPLATES {
            for name in [template.name, "other"] {
                let text = template.named(name, Path::new("dir/other.toml"));
                let plan = plan_sweep(&SweepText::new(template.name, text.clone()));
                let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", template.name));
                assert_eq!(plan.name, name);
                assert!(
                    !plan.settings.description.is_empty()
                        && plan.settings.description == template.description()
                );
                assert!(text.starts_with("#:schema ./"), "{text}");
                assert!(text.contains("spelrum run dir/other.toml"), "{text}");
                assert!(!text.contains(&format!(" {}.toml", template.name)), "{text}");
            }
        }
    }

    /// Examples in a template's comments are valid.
    #[test]
    fn the_examples_in_comments_are_planned() {
        let mut shown = 0;
        for template in &TEMPLATES {
            let Some(start) = template.text.find("# [[override]]") else { continue };
            let (text, comment) = template.text.split_at(start);
            let lines = comment.lines().map(|line| line.trim_start_matches('#').trim_start());
            let text = format!("{text}{}\n", lines.collect::<Vec<_>>().join("\n"));
            if let Err(error) = plan_sweep(&SweepText::new(template.name, text.clone())) {
                panic!("{}: {error}\n{text}", template.name);
            }
            shown += 1;
        }
        assert_eq!(shown, 3);
    }
}
