//! `spelrum engine`: built-in players as engines, and engines of others.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::thread::JoinHandle;

use clap::{Args, Subcommand, ValueEnum};
use spelrum_engine::games::{Chess, Othello, Pentago};
use spelrum_engine::search::STACK_BYTES;
use spelrum_engine::{Game, Rules, with_game};
use spelrum_external::text::Assembler;
use spelrum_external::uci::{Server, Words, serve};

use super::engine_check::{self, EngineCheck};
use super::engine_push::{self, EnginePush};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::players::built_in::{PlayerArguments, key_of_seed};
use crate::players::gtp::{GtpPlayer, Reply};
use crate::players::lines::LinesPlayer;
use crate::players::position::{games_by_name, rules};
use crate::players::rules::RulesServer;
use crate::players::uci::UciPlayer;
use crate::terminal::panic;

const EXAMPLES: &str = "\
Over UCI, its parameters are options, with what --set says as their defaults; so are the limits, of which 0 is \
none. What `go` says of depth, nodes and time bounds a move as well. Without either it thinks until it \
receives `stop`. Searches deepen step by step unless --set iterative=false.

Examples:
  spelrum engine uci --player alpha-beta
  spelrum engine uci --player mcts --set move_time=1s
  spelrum engine ugi --game othello --player alpha-beta
  spelrum engine gtp --player alpha-beta --depth 4
  spelrum engine lines --player alpha-beta --depth 4
  fastchess -engine cmd=spelrum args=\"engine uci --player minimax --depth 3\" name=minimax ...";

/// Run a built-in player as an external engine, or check or push external engines
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Engine {
    #[command(subcommand)]
    protocol: Protocol,
}

#[derive(Debug, Subcommand)]
enum Protocol {
    /// Play chess over the universal chess interface, for GUIs and match runners
    #[command(after_help = EXAMPLES)]
    Uci(PlayerArguments),
    /// Play any game over the universal game interface (UGI)
    #[command(after_help = UGI_EXAMPLES)]
    Ugi(UgiArguments),
    /// Play Pentago or Othello over the Go text protocol; `help` lists what it knows
    #[command(after_help = GTP_EXAMPLES)]
    Gtp(GtpArguments),
    /// Play any game over the protocol of lines (docs/lines.md)
    #[command(after_help = LINES_EXAMPLES)]
    Lines(LinesArguments),
    /// Answer questions about positions of any game: legal moves, what moves lead to, results
    #[command(after_help = RULES_EXAMPLES)]
    Rules,
    /// Start engines of an engines file, and report what they can do and what is wrong with them
    #[command(after_help = engine_check::EXAMPLES)]
    Check(EngineCheck),
    /// Hand a program to the workers of a coordinator that accept programs
    #[command(after_help = engine_push::EXAMPLES)]
    Push(EnginePush),
}

const GTP_EXAMPLES: &str = "\
A move of Pentago is the row from a to f, the column from 1 to 6 and the turn from s to z, quadrants \
clockwise from the top left, each with its counter-clockwise turn first, as pentagod has it. A move of Othello is a \
square, such as d3, or pass; Black moves first, and a forced pass need not be sent. `set NAME VALUE` changes a \
parameter, so in an engines file: gtp = { limits = [\"set depth {depth}\", \"set move_time {milliseconds}ms\"] }.

Examples:
  spelrum engine gtp --player alpha-beta --depth 4
  spelrum engine gtp --game othello --player alpha-beta --depth 6
  spelrum engine gtp --player mcts --set move_time=1s --win-after-rotation";

const UGI_EXAMPLES: &str = "\
The frame is that of UCI, as in `spelrum engine uci`; the times are p1time, p2time, p1inc and p2inc, and positions and \
moves are in the notation of the game. The rules are those of the command line: UGI does not send them.

Examples:
  spelrum engine ugi --game othello --player alpha-beta
  spelrum engine ugi --game nim --rule heaps=[1,2,3] --player mcts --set move_time=1s";

const LINES_EXAMPLES: &str = "\
The game and its rules come with the first line. Limits of a request replace those of the player; random numbers \
follow from the request's seed, and --seed has no effect.

Examples:
  spelrum engine lines --player alpha-beta --depth 4
  spelrum engine lines --game connect-four --player mcts --set move_time=1s";

const RULES_EXAMPLES: &str = "\
Each line of input is a JSON object, and is answered by one. A question has `game`, and may have `rules` as a sweep \
has them, `position` (else the start), `after` (a list of moves), `draw` (true: the answer has the board as a text, \
and as data), and `ask`, which is repeated. The answer has `position`, `to_move` (first or second), `legal`, `over` \
and, after the end, `result` (first, second or draw); or `error`. It ends with its input.

Examples:
  spelrum engine rules <<< '{\"game\":\"connect-four\",\"after\":[\"d\",\"d\"]}'
  spelrum engine rules <<< '{\"game\":\"nim\",\"rules\":{\"heaps\":[1,2]},\"after\":[\"a1\"]}'";

#[derive(Args, Debug)]
struct LinesArguments {
    #[command(flatten)]
    player: PlayerArguments,
    /// The only game that it plays [default: each that it is asked for]
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
}

#[derive(Args, Debug)]
struct UgiArguments {
    #[command(flatten)]
    player: PlayerArguments,
    #[arg(long, value_name = "GAME", help = format!("What is played: {}", games_by_name()))]
    game: String,
    /// One of the game's rules, such as `win_before_rotation=false` or `heaps=[1,3,5]`
    #[arg(long = "rule", value_name = "KEY=VALUE")]
    rules: Vec<String>,
}

#[derive(Args, Debug)]
struct GtpArguments {
    #[command(flatten)]
    player: PlayerArguments,
    /// What is played
    #[arg(long, value_enum, default_value_t = GtpGame::Pentago)]
    game: GtpGame,
    /// Judge five in a row only after the turn, as pentagod does
    #[arg(long)]
    win_after_rotation: bool,
}

/// The games whose programs speak GTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GtpGame {
    Pentago,
    Othello,
}

impl Engine {
    /// Serves the controller until it quits, or checks engines.
    pub(crate) fn run(self) -> Result<Exit> {
        match self.protocol {
            Protocol::Uci(arguments) => {
                panic::exit_on_any();
                uci::<Chess>(Words::uci(), Rules::usual::<Chess>(), &arguments)
            }
            Protocol::Ugi(UgiArguments { player, game, rules: given }) => {
                panic::exit_on_any();
                let rules = rules(&game, &given)?;
                with_game!(&rules, G => uci::<G>(Words::ugi(), rules.clone(), &player))
            }
            Protocol::Gtp(arguments) => {
                panic::exit_on_any();
                gtp(&arguments)
            }
            Protocol::Lines(arguments) => {
                panic::exit_on_any();
                lines(&arguments)
            }
            Protocol::Rules => {
                panic::exit_on_any();
                serve_on_thread(|| {
                    let mut server = RulesServer::default();
                    move |line: &str| Reply {
                        text: server.take(line).map_or_else(String::new, |answer| answer + "\n"),
                        is_last: false,
                    }
                })
            }
            Protocol::Check(check) => super::on_runtime(check.run()),
            Protocol::Push(push) => super::on_runtime(push.run()),
        }
    }
}

/// Serves a player in the frame of UCI, on a thread with the stack that searches need.
fn uci<G: Game>(words: Words, rules: Rules, arguments: &PlayerArguments) -> Result<Exit> {
    let (given, key) = (arguments.served()?, key_of_seed(arguments.seed));
    let made = move || UciPlayer::<G>::new(rules.clone(), &given, key);
    // Errors are reported before serving begins; the player is built again on its own thread.
    let options = made().map_err(|error| arguments.not_made(error))?.options();
    let name = format!("Spelrum {} {}", env!("CARGO_PKG_VERSION"), arguments.algorithm());
    let server = Server::new(words, name, "the Spelrum maintainers".to_owned(), options);
    let served = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || match made() {
        Ok(mut player) => serve(server, &mut player, BufReader::new(io::stdin()), io::stdout()),
        Err(_) => Ok(()),
    });
    join(served)
}

fn gtp(arguments: &GtpArguments) -> Result<Exit> {
    let GtpArguments { player, game, win_after_rotation } = arguments;
    match game {
        GtpGame::Pentago => serve_gtp::<Pentago>(player, Pentago::rules(!win_after_rotation)),
        GtpGame::Othello if *win_after_rotation => {
            Err(CliError::new(Exit::Input, "set the rules of othello")
                .because("`--win-after-rotation` is a rule of pentago")
                .help("leave it out, or play --game pentago"))
        }
        GtpGame::Othello => serve_gtp::<Othello>(player, Othello::rules()),
    }
}

/// Answers line by line, until the end of input.
fn lines(LinesArguments { player, game }: &LinesArguments) -> Result<Exit> {
    if let Some(game) = game {
        Rules::from_name(game).map_err(|error| {
            CliError::new(Exit::Input, "read the game").because(error.what).help(error.remedy)
        })?;
    }
    let (algorithm, given, game) = (player.algorithm().to_owned(), player.served()?, game.clone());
    serve_on_thread(move || {
        let mut served = LinesPlayer::new(&algorithm, given, game);
        move |line: &str| Reply {
            text: served.take(line).map_or_else(String::new, |answer| answer + "\n"),
            is_last: false,
        }
    })
}

/// Answers line by line, until a quit command or the end of input.
fn serve_gtp<G: Game>(player: &PlayerArguments, rules: Rules) -> Result<Exit> {
    let (algorithm, given) = (player.algorithm().to_owned(), player.served()?);
    let key = key_of_seed(player.seed);
    let made = move || GtpPlayer::<G>::new(&algorithm, given, rules, key);
    // Errors are reported before serving begins; the player is built again on its own thread, which has the stack it
    // needs.
    made.clone()().map_err(|error| player.not_made(error))?;
    serve_on_thread(move || {
        let mut served = made().ok();
        move |line: &str| match &mut served {
            Some(served) => served.execute(line),
            None => Reply { text: String::new(), is_last: true },
        }
    })
}

/// Answers each line by what `make` returns, until that was the last or the input ends. `make` is called on a thread
/// with the stack that searches need.
fn serve_on_thread<F: FnMut(&str) -> Reply>(
    make: impl FnOnce() -> F + Send + 'static,
) -> Result<Exit> {
    let playing = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut execute = make();
        let (mut input, mut output) = (io::stdin().lock(), io::stdout());
        let mut assembler = Assembler::default();
        loop {
            let bytes = input.fill_buf()?;
            let (length, mut lines) = (bytes.len(), Vec::new());
            assembler.take_keeping_cr(bytes, |line| lines.push(line.text));
            input.consume(length);
            if length == 0 {
                lines.extend(assembler.finish().map(|line| line.text));
            }
            for line in lines {
                let Reply { text, is_last } = execute(&line);
                output.write_all(text.as_bytes())?;
                output.flush()?;
                if is_last {
                    return Ok(());
                }
            }
            if length == 0 {
                return Ok(());
            }
        }
    });
    join(playing)
}

/// Waits for the end of a thread that serves a player.
fn join(serving: io::Result<JoinHandle<io::Result<()>>>) -> Result<Exit> {
    let failed = |error: io::Error| CliError::new(Exit::Internal, "read commands").because(error);
    match serving.map_err(failed)?.join() {
        Ok(outcome) => outcome.map_err(failed)?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    Ok(Exit::Success)
}
