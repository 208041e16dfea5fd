//! A program that holds an engine until it is killed.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use spelrum_external::{
    Colour, Conditions, Engine, EngineFile, Guard, Limits, Options, Situation, Start,
};

/// Starts the engine of an engines file, prints `held`, and lets it search if its second argument
/// says so.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let [file, rest @ ..] = words else { return ExitCode::from(64) };
    let file = EngineFile::read(&PathBuf::from(file)).expect("the engines file is good");
    let spec = file.get("engine").expect("it has an engine");
    let guard = Guard::from_running_program(&["guard"]).expect("the program knows itself");
    let mut engine =
        Engine::start(spec, &Options::new(), &guard, &|| false).expect("it can be started");
    let limits = Limits { depth: Some(1), ..Limits::default() };
    let conditions = Conditions { limits, ..Conditions::default() };
    engine.new_game(&conditions, &|| false).expect("it can begin a game");
    let _ = writeln!(io::stdout(), "held");
    if rest.iter().any(|word| word == "search") {
        let (start, to_move) = (Start::Usual, Colour::White);
        let situation = Situation { start, moves: &[], to_move, limits, clock: None };
        let _ = engine.choose(&situation, &|| false);
    }
    crate::linger()
}
