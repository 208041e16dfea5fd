//! Measures a player over the protocol of lines with several games at once: `batches FILE PLAYER GAMES MOVES`.
//!
//! Each of GAMES threads asks the player of an engines file for MOVES moves in the first position of Connect Four.
//! Guards are this program again. `batches.py` is such a player.

#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelrum_external::lines::{GameSetup, PositionAfter};
use spelrum_external::{
    AnyPosition, Colour, Conditions, EngineFailure, EngineFile, Guard, Limits, Options, Pool,
    RuleBook, Situation, Start, guard,
};

const EMPTY: &str = ".......|.......|.......|.......|.......|.......";

#[derive(Debug)]
struct NoRules;

impl RuleBook for NoRules {
    fn after(&self, _moves: &[String]) -> Result<PositionAfter, String> {
        Err("there are no rules here".to_owned())
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next().unwrap_or_default();
    if first == "guard" {
        return Ok(guard::run(&["guard"], args));
    }
    let words: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let [player, games, moves] = words.as_slice() else {
        println!("usage: batches FILE PLAYER GAMES MOVES");
        return Ok(ExitCode::from(2));
    };
    let (games, moves): (usize, usize) = (games.parse()?, moves.parse()?);
    let pool = Pool::new(
        EngineFile::read(Path::new(&first))?,
        Guard::from_running_program(&["guard"])?,
        games,
    );
    let setup = GameSetup { name: "connect-four".to_owned(), rules: serde_json::json!({}) };
    let conditions = Conditions { game: Some(Arc::new(setup)), ..Conditions::default() };
    // Its process is there before the time runs.
    drop(pool.reserve(&[player], &|| false)?.take(
        player,
        &Options::new(),
        &conditions,
        &|| false,
    )?);
    let started = Instant::now();
    let waits = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..games)
            .map(|game| {
                let (pool, conditions) = (&pool, &conditions);
                scope.spawn(move || play(pool, player, conditions, game, moves))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let wall = started.elapsed().as_secs_f64();
    let all = (games * moves) as f64;
    let wait = waits.iter().map(Duration::as_secs_f64).sum::<f64>() / all;
    println!("{all} moves in {wall:.2} s: {:.0} a second; {:.1} ms each", all / wall, wait * 1e3);
    pool.close_idle();
    Ok(ExitCode::SUCCESS)
}

/// The time that a game waited for its moves.
fn play(
    pool: &Pool,
    player: &str,
    conditions: &Conditions,
    game: usize,
    moves: usize,
) -> Result<Duration, EngineFailure> {
    let legal: Vec<String> = ('a'..='g').map(String::from).collect();
    let mut room = pool
        .reserve(&[player], &|| false)
        .unwrap_or_else(|no_room| panic!("the engines file has no room for the games: {no_room}"));
    let mut engine = room.take(player, &Options::new(), conditions, &|| false)?;
    let mut waited = Duration::ZERO;
    for ply in 0..moves {
        let position = AnyPosition {
            opening: EMPTY,
            position: EMPTY,
            legal: &legal,
            board: EMPTY,
            seed: (game * moves + ply) as u64,
            rules: &NoRules,
        };
        let (start, to_move) = (Start::Any(position), Colour::White);
        let limits = Limits::default();
        let situation = Situation { start, moves: &[], to_move, limits, clock: None };
        waited += engine.choose(&situation, &|| false)?.wall;
    }
    Ok(waited)
}
