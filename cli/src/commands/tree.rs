//! `spelrum tree`: a game tree in the style of lecture slides.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::tree::{
    GameTree, Join, TreeAlgorithm, TreeError, TreeOptions, WinScore, count_plies, grow,
};
use spelrum_engine::{Game, Parameters, Rules, Value, with_evaluation, with_game};
use spelrum_report::data::{NewFile, write_json};
use spelrum_report::text::count;
use spelrum_report::tree::{
    Heading, Picture, TreeJson, TreeRequest, WinNotation, drawn_nodes, write_counts, write_dot,
    write_svg, write_text,
};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::players::built_in::settings;
use crate::players::position::PositionArguments;
use crate::terminal;

/// The most nodes drawn: a larger picture is unreadable.
const NODES_DRAWN_MAX: usize = 2_500;
/// The most positions of a ply for which the whole tree is counted.
const POSITIONS_COUNTED_MAX: usize = 200_000;

const EXAMPLES: &str = "\
Boards, the values that travel up, the order of visits, what alpha and beta cut off and by which \
bound, and the counts of every ply: of the whole tree, and of what the search visits. The side to \
move at the root is MAX; values are for it. Moves are tried in the game's own order, or, with alpha-beta-best, \
the best first, and with alpha-beta-worst the worst first.

A win is worth more than any evaluation: `win`, or 1 where nothing is evaluated. At most 2,500 nodes \
are drawn; --counts goes on to 2,000,000 visits.

JSON: game, position, to_move, algorithm, join, wins, evaluation, depth, score and bound (exact, \
at_least, at_most), best_line, plies (nodes, positions and up_to_symmetry of the whole tree; visited, \
evaluated, over, cut_off), and, without --counts, nodes (node, ply, position, kind, score, bound, \
visits, cut_by, cut_at, branches).

Examples:
  spelrum tree tic-tac-toe --depth 2 --evaluation open-lines --algorithm alpha-beta \\
    --join symmetric
  spelrum tree nim --rule heaps=[3,2] --rule misere=true --format svg --output nim.svg
  spelrum tree tic-tac-toe --algorithm alpha-beta-one-bound --counts
  spelrum tree tic-tac-toe --algorithm alpha-beta-best --evaluation none --counts
  spelrum tree connect-four --depth 2 --join symmetric --format dot | dot -Tpdf -o tree.pdf";

/// Draw a game tree as lecture slides do, or count it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tree {
    #[command(flatten)]
    position: PositionArguments,
    /// How many plies to search [default: to the end of the game]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// What positions at the depth are worth: one of the game's evaluations [default: its first]
    #[arg(long, value_name = "NAME")]
    evaluation: Option<String>,
    /// One of the evaluation's parameters
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// How to search
    #[arg(long, value_name = "ALGORITHM", value_enum, default_value_t = Algorithm::Minimax)]
    algorithm: Algorithm,
    /// Which positions of one ply to draw, and search, as one
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Joined::None)]
    join: Joined,
    /// What wins are worth
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Wins::Equal)]
    wins: Wins,
    /// How to draw
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file; one of this name is replaced
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only count, also trees that are too large to be drawn
    #[arg(long, conflicts_with = "format")]
    counts: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Algorithm {
    /// Every position to the depth
    Minimax,
    /// Without what cannot change the result, both bounds handed down
    AlphaBeta,
    /// The same with the best move of each position first: the best case
    AlphaBetaBest,
    /// With the worst first: little is cut off
    AlphaBetaWorst,
    /// Only what the parent has so far is handed down: no deep cut-offs
    AlphaBetaOneBound,
    /// The same with the root's bound at minus infinity, as some slides print it: it cuts off at once
    AlphaBetaOneBoundMisprint,
}

/// Which positions are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Joined {
    /// Every line of moves has its own
    None,
    /// Equal ones
    Equal,
    /// Those that the game's symmetries map to each other
    Symmetric,
}

/// What wins are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Wins {
    /// All the same, as in lectures
    Equal,
    /// The sooner the more, as players see it
    Sooner,
}

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// An outline for the terminal
    Text,
    /// A picture that stands by itself
    Svg,
    /// For Graphviz
    Dot,
}

/// A choice's name on the command line and in JSON.
fn name(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Tree {
    /// Grows the tree and draws it.
    pub(crate) fn run(self) -> Result<Exit> {
        let rules = self.position.rules()?;
        with_game!(&rules, P => self.draw::<P>(&rules))
    }

    fn draw<P: Game>(&self, rules: &Rules) -> Result<Exit> {
        let root: P = self.position.position_to_play(rules, "draw the tree")?;
        let evaluation = match (&self.evaluation, P::EVALUATIONS) {
            (Some(name), _) => name,
            (None, [first, ..]) => first.name,
            (None, []) => "",
        };
        let mut given: Parameters = settings(&self.settings)?;
        given.insert("evaluation".to_owned(), Value::Text(evaluation.to_owned()));
        let tree = with_evaluation(&given, Growing { root: &root, options: self.options() })
            .map_err(|error| {
                CliError::new(Exit::Input, "make the evaluation")
                    .because(error.what)
                    .help(error.remedy)
            })?
            .map_err(|error| self.refusal(error))?;
        if !self.counts && !self.json {
            let drawn = drawn_nodes(&tree);
            if drawn > NODES_DRAWN_MAX {
                return Err(self.too_large(&count(drawn as u64)));
            }
        }
        self.print(rules, &tree, evaluation)
    }

    fn options(&self) -> TreeOptions {
        TreeOptions {
            algorithm: match self.algorithm {
                Algorithm::Minimax => TreeAlgorithm::Minimax,
                Algorithm::AlphaBeta => TreeAlgorithm::AlphaBeta,
                Algorithm::AlphaBetaBest => TreeAlgorithm::AlphaBetaBest,
                Algorithm::AlphaBetaWorst => TreeAlgorithm::AlphaBetaWorst,
                Algorithm::AlphaBetaOneBound => TreeAlgorithm::OneBound,
                Algorithm::AlphaBetaOneBoundMisprint => TreeAlgorithm::OneBoundMisprint,
            },
            join: match self.join {
                Joined::None => Join::None,
                Joined::Equal => Join::Equal,
                Joined::Symmetric => Join::Symmetric,
            },
            wins: match self.wins {
                Wins::Equal => WinScore::Equal,
                Wins::Sooner => WinScore::SoonerIsBetter,
            },
            depth: self.depth,
            visits_max: TreeOptions::VISITS_MAX,
        }
    }

    fn refusal(&self, error: TreeError) -> CliError {
        match error {
            TreeError::TooLarge(visits) => {
                self.too_large(&format!("more than {}", count(visits as u64)))
            }
            TreeError::EvaluationIsAsymmetric | TreeError::HistoryMatters => {
                CliError::new(Exit::Input, "join positions").because(error).help("leave --join out")
            }
        }
    }

    /// The error of a tree with this many nodes, and the remedy.
    fn too_large(&self, nodes: &str) -> CliError {
        let (action, most) = if self.counts || self.json {
            ("count the tree", TreeOptions::VISITS_MAX)
        } else {
            ("draw the tree", NODES_DRAWN_MAX)
        };
        let depth = match self.depth {
            Some(1) => None,
            Some(depth) => Some(format!("--depth {}", depth - 1)),
            None => Some("--depth N".to_owned()),
        };
        let can_join = self.join != Joined::Symmetric;
        let can_cut = self.algorithm == Algorithm::Minimax;
        let is_drawn = !self.counts && !self.json;
        let remedies: Vec<String> = [
            depth,
            can_join.then(|| "--join symmetric".to_owned()),
            can_cut.then(|| "--algorithm alpha-beta".to_owned()),
            Some("a --position later in the game".to_owned()),
            is_drawn.then(|| "--counts to only count it".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        CliError::new(Exit::Input, action)
            .because(format!("it has {nodes} nodes, and the most is {}", count(most as u64)))
            .help(format!("try one or more of: {}", remedies.join(", ")))
    }

    fn print<P: Game>(&self, rules: &Rules, tree: &GameTree<P>, evaluation: &str) -> Result<Exit> {
        let depth = tree.nodes().iter().map(|node| node.ply).max();
        let ply_counts =
            count_plies(&tree.root().position, self.depth.or(depth), POSITIONS_COUNTED_MAX);
        let words = WinNotation::for_tree(tree, self.options().wins);
        let picture = Picture::new(tree, words, self.heading(rules, tree, evaluation), &ply_counts);
        let [algorithm, join, wins] = [name(&self.algorithm), name(&self.join), name(&self.wins)];
        let asked = TreeRequest {
            algorithm: &algorithm,
            join: &join,
            wins: &wins,
            evaluation,
            depth: self.depth,
        };
        write_to(self.output.as_deref(), |out| {
            if self.json {
                return write_json(out, &TreeJson::new(tree, &picture, asked, !self.counts));
            }
            if self.counts {
                return write_counts(out, &picture);
            }
            match self.format {
                Format::Text => write_text(out, &picture),
                Format::Svg => write_svg(out, &picture),
                Format::Dot => write_dot(out, &picture),
            }
        })?;
        Ok(Exit::Success)
    }

    fn heading<P: Game>(&self, rules: &Rules, tree: &GameTree<P>, evaluation: &str) -> Heading {
        let root = &tree.root().position;
        let depth = match self.depth {
            None => "to the end of the game".to_owned(),
            Some(1) => format!("1 ply, evaluation {evaluation}"),
            Some(depth) => format!("{depth} plies, evaluation {evaluation}"),
        };
        let algorithm = match self.algorithm {
            Algorithm::Minimax => "minimax",
            Algorithm::AlphaBeta => "alpha-beta",
            Algorithm::AlphaBetaBest => "alpha-beta, the best moves first",
            Algorithm::AlphaBetaWorst => "alpha-beta, the worst moves first",
            Algorithm::AlphaBetaOneBound => "alpha-beta with one bound",
            Algorithm::AlphaBetaOneBoundMisprint => "alpha-beta with one bound, as misprinted",
        };
        let join = match self.join {
            Joined::None => "",
            Joined::Equal => ", equal positions joined",
            Joined::Symmetric => ", symmetric positions joined",
        };
        let max = P::side_name(root.to_move());
        let min = P::side_name(root.to_move().other());
        Heading {
            title: format!("{}: {algorithm}, {depth}{join}", rules.name()),
            sides: format!("MAX is {max}, MIN is {min}; values are for MAX"),
        }
    }
}

/// Grows a tree with an evaluation as a type.
struct Growing<'a, P> {
    root: &'a P,
    options: TreeOptions,
}

impl<P: Game> EvaluationVisitor<P> for Growing<'_, P> {
    type Output = std::result::Result<GameTree<P>, TreeError>;

    fn visit<E: GameEvaluation<P>>(self, evaluation: E) -> Self::Output {
        grow(self.root, &evaluation, &self.options)
    }
}

/// Writes to the file, or to standard output.
fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let Some(path) = path else {
        let mut out = BufWriter::new(terminal::stdout());
        write(&mut out)?;
        return Ok(out.flush()?);
    };
    let (new, file) = NewFile::create(path)?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(|error| {
        CliError::new(Exit::Input, format!("write {}", path.display()))
            .because(error)
            .help("check the path, its permissions and the room on the disk")
    })?;
    Ok(new.finish()?)
}
