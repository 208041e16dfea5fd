//! Measures the overhead of a game between two engines: `plies FILE WHITE BLACK NODES GAMES`.
//!
//! The engines of an engines file play chess from the usual position, move by move, without a check of their
//! moves. Over the protocol of lines, they are asked for 42 moves in the first position of Connect Four instead. Guards are this program again.

#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_external::lines::{GameSetup, PositionAfter};
use spelrum_external::{
    AnyPosition, Colour, Conditions, EngineFile, FailureKind, Guard, Limits, Options, Pool,
    Protocol, RuleBook, Situation, Start, guard,
};

/// The plies of a game over the protocol of lines.
const PLIES: usize = 42;
const EMPTY: &str = ".......|.......|.......|.......|.......|.......";

#[derive(Debug)]
struct NoRules;

impl RuleBook for NoRules {
    fn after(&self, _moves: &[String]) -> Result<PositionAfter, String> {
        Err("there are no rules here".to_owned())
    }
}

/// The length limit of games, for engines that ignore draws.
const PLIES_MAX: usize = 200;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next().unwrap_or_default();
    if first == "guard" {
        return Ok(guard::run(&["guard"], args));
    }
    let words: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let [white, black, nodes, games] = words.as_slice() else {
        println!("usage: plies FILE WHITE BLACK NODES GAMES");
        return Ok(ExitCode::from(2));
    };
    let file = EngineFile::read(Path::new(&first))?;
    let is_lines = file.get(white).is_some_and(|spec| spec.protocol == Protocol::Lines);
    let pool = Pool::new(file, Guard::from_running_program(&["guard"])?, 2);
    let setup = GameSetup { name: "connect-four".to_owned(), rules: serde_json::json!({}) };
    let legal: Vec<String> = ('a'..='g').map(String::from).collect();
    let position = AnyPosition {
        opening: EMPTY,
        position: EMPTY,
        legal: &legal,
        board: EMPTY,
        seed: 1,
        rules: &NoRules,
    };
    let plies_max = if is_lines { PLIES } else { PLIES_MAX };
    let limits = Limits { nodes: Some(nodes.parse()?), ..Limits::default() };
    let game = is_lines.then(|| Arc::new(setup));
    let conditions = Conditions { limits, game, ..Conditions::default() };
    let (started, cpu) = (Instant::now(), own_cpu());
    let (mut plies, mut thinking) = (0, Duration::ZERO);
    for _ in 0..games.parse()? {
        let mut room = pool.reserve(&[white, black], &|| false)?;
        let mut take = |name: &str| room.take(name, &Options::new(), &conditions, &|| false);
        let mut seats = [(Colour::White, take(white)?), (Colour::Black, take(black)?)];
        let mut moves: Vec<String> = Vec::new();
        while moves.len() < plies_max {
            let (to_move, engine) = &mut seats[moves.len() % 2];
            let start = if is_lines { Start::Any(position) } else { Start::Usual };
            let to_move = *to_move;
            let situation = Situation { start, moves: &moves, to_move, limits, clock: None };
            match engine.choose(&situation, &|| false) {
                Ok(choice) => {
                    thinking += choice.wall;
                    moves.push(choice.mv);
                }
                // Most engines report mate this way.
                Err(failure) if failure.kind == FailureKind::NoMove("(none)".to_owned()) => break,
                Err(failure) => {
                    println!("{failure}\n{}", failure.transcript);
                    break;
                }
            }
        }
        plies += moves.len();
        for (_, engine) in &mut seats {
            let name = engine.identity().name.clone();
            engine.take_breaches().iter().for_each(|breach| println!("{name}: {breach}"));
        }
    }
    let (wall, cpu) = (started.elapsed(), own_cpu() - cpu);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / plies.max(1) as f64;
    println!("{plies} plies in {:.2} s", wall.as_secs_f64());
    println!("{:.1} µs of our processor time, {:.1} µs of wall time and", each(cpu), each(wall));
    println!("{:.1} µs until the answer, each ply", each(thinking));
    pool.close_idle();
    Ok(ExitCode::SUCCESS)
}

fn own_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
