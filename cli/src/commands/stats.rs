//! `spelrum stats`: statistics of a match's counts, in the notations of match runners and reports.

use std::io::{self, Write};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::{optional, percent};
use spelrum_statistics::Tally;
use spelrum_statistics::{
    EloModel, GameCounts, PairCounts, SPRT_ELO_MAX, SPRT_ERROR_MAX, ScoreInterval, Sprt,
};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;

const EXAMPLES: &str = "\
For a match that was played elsewhere, or a part of one. Counts of pairs say more than counts of games: \
the two games of a pair share an opening, and where openings decide, wins and losses of single games \
look like chance that is not there.

The first block is what reports say: the score's 95% interval, the same in Elo, and LOS, the likelihood \
that the first player is the stronger one, all by one model. The second is what match runners print: it \
takes the variance that was seen for the true one, so it is too sure of itself where pairs are few, or \
nearly all alike. docs/statistics.md has the formulas.

With --elo0 and --elo1 a sequential test is judged: LLR is the logarithm of how much likelier these counts \
are under elo1 than under elo0.

JSON: kind, counts, score, score_low, score_high, elo, elo_low, elo_high, confidence (LOS of the first block), \
elo_error, nelo, nelo_error, los (of the second), elo0, elo1, alpha, beta, model, llr, lower, upper, verdict. \
What is unbounded or not asked for is null.

Examples:
  spelrum stats --wdl 250,500,200
  spelrum stats --pentanomial 10,30,60,45,15
  spelrum stats --pentanomial 10,30,60,45,15 --elo0 0 --elo1 5 --json";

/// Compute Elo, likelihoods and sequential tests from win, draw and loss counts
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {
    /// Games that the first player won, drew and lost
    #[arg(
        long,
        value_name = "W,D,L",
        required_unless_present = "pentanomial",
        conflicts_with = "pentanomial"
    )]
    wdl: Option<Counts<3>>,
    /// Pairs of games in which the first player got 0, ½, 1, 1½ and 2 points
    #[arg(long, value_name = "0,½,1,1½,2")]
    pentanomial: Option<Counts<5>>,
    /// The smaller difference in strength of a sequential test, in Elo
    #[arg(long, value_name = "ELO", requires = "elo1", allow_negative_numbers = true)]
    elo0: Option<f64>,
    /// The larger one
    #[arg(long, value_name = "ELO", requires = "elo0", allow_negative_numbers = true)]
    elo1: Option<f64>,
    /// How probable it may be to take elo1 where elo0 is true
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.05)]
    alpha: f64,
    /// How probable it may be to take elo0 where elo1 is true
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.05)]
    beta: f64,
    /// What elo0 and elo1 are in
    #[arg(long, value_enum, default_value_t = Model::Normalized)]
    model: Model,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The greatest count: greater ones would not be exact.
const COUNT_MAX: u64 = 1 << 50;

/// `N` counts separated by commas.
#[derive(Clone, Copy, Debug)]
struct Counts<const N: usize>([u64; N]);

impl<const N: usize> FromStr for Counts<N> {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let count = |word: &str| match word.trim().parse() {
            Ok(count) if count <= COUNT_MAX => Ok(count),
            Ok(_) => Err(format!("{word} is more than {COUNT_MAX}")),
            Err(_) => Err(format!("`{word}` is not a count of games or pairs")),
        };
        let counts = text.split(',').map(count).collect::<std::result::Result<Vec<_>, _>>()?;
        let found = counts.len();
        let counts = counts.try_into().map_err(|_| {
            format!(
                "there are {found} counts and not {N}; write them with commas and without spaces"
            )
        })?;
        Ok(Self(counts))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Model {
    /// Normalized Elo: as many games to see whatever the draws
    Normalized,
    /// Elo as it follows from the score
    Logistic,
}

/// The results, also in JSON. Keys are those of the notes on the reference figures, where these have one.
#[derive(Debug, Serialize)]
struct Figures {
    kind: &'static str,
    counts: Vec<u64>,
    score: f64,
    score_low: f64,
    score_high: f64,
    elo: Option<f64>,
    elo_low: Option<f64>,
    elo_high: Option<f64>,
    confidence: f64,
    elo_error: Option<f64>,
    nelo: Option<f64>,
    nelo_error: Option<f64>,
    los: f64,
    #[serde(flatten)]
    test: Test,
}

/// An SPRT (sequential probability ratio test); empty unless requested.
#[derive(Debug, Default, Serialize)]
struct Test {
    elo0: Option<f64>,
    elo1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    model: Option<&'static str>,
    llr: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    verdict: Option<&'static str>,
}

impl Stats {
    /// Computes and prints.
    pub(crate) fn run(self) -> Result<Exit> {
        let (kind, counts, tally) = match (self.wdl, self.pentanomial) {
            (Some(Counts([wins, draws, losses])), _) => {
                let games = GameCounts([losses, draws, wins]);
                ("trinomial", vec![wins, draws, losses], Tally::Games(games))
            }
            (None, Some(Counts(pairs))) => {
                ("pentanomial", pairs.to_vec(), Tally::Pairs(PairCounts(pairs)))
            }
            (None, None) => {
                let error = CliError::from_sentence(
                    Exit::Input,
                    "failed to compute statistics: no counts \
                are given",
                );
                return Err(error.help("give --wdl W,D,L or --pentanomial 0,½,1,1½,2"));
            }
        };
        let test = self.test(&tally)?;
        let figures = figures(kind, counts, &tally, test);
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &figures)?;
        } else {
            write(&figures, &mut out)?;
        }
        Ok(Exit::Success)
    }

    fn test(&self, tally: &Tally) -> Result<Test> {
        let Some((elo0, elo1)) = self.elo0.zip(self.elo1) else { return Ok(Test::default()) };
        let model = match self.model {
            Model::Normalized => EloModel::Normalized,
            Model::Logistic => EloModel::Logistic,
        };
        let Some(sprt) = Sprt::new(elo0, elo1, self.alpha, self.beta, model) else {
            let error = CliError::from_sentence(
                Exit::Input,
                "failed to run the SPRT: its parameters are out of \
                range",
            );
            return Err(error.help(format!(
                "elo0 is less than elo1, both are from -{SPRT_ELO_MAX} to {SPRT_ELO_MAX}, alpha and beta \
                 are between 0 and {SPRT_ERROR_MAX}, both excluded"
            )));
        };
        let llr = tally.llr(&sprt);
        let [lower, upper] = sprt.bounds();
        Ok(Test {
            elo0: Some(sprt.elo0()),
            elo1: Some(sprt.elo1()),
            alpha: Some(sprt.alpha()),
            beta: Some(sprt.beta()),
            model: Some(model.name()),
            llr: Some(llr),
            lower: Some(lower),
            upper: Some(upper),
            verdict: sprt.verdict(llr).map(|verdict| verdict.name()),
        })
    }
}

fn figures(kind: &'static str, counts: Vec<u64>, tally: &Tally, test: Test) -> Figures {
    let finite = |figure: f64| figure.is_finite().then_some(figure + 0.0);
    let ScoreInterval { score, low, high } = tally.interval();
    let confidence = tally.confidence();
    let printed = tally.strength();
    Figures {
        kind,
        counts,
        score,
        score_low: low,
        score_high: high,
        elo: finite(confidence.elo),
        elo_low: finite(confidence.elo_low),
        elo_high: finite(confidence.elo_high),
        confidence: confidence.los,
        elo_error: finite(printed.elo_error),
        nelo: finite(printed.nelo),
        nelo_error: finite(printed.nelo_error),
        los: printed.los,
        test,
    }
}

fn write(figures: &Figures, out: &mut dyn Write) -> io::Result<()> {
    let elo = |elo: Option<f64>| optional(elo, |elo| format!("{elo:+.1}"));
    let plain = |figure: Option<f64>| optional(figure, |figure| format!("{figure:.1}"));
    let Figures { score, score_low, score_high, .. } = figures;
    writeln!(out, "score  {score:.4}, 95% interval {score_low:.4} to {score_high:.4}")?;
    let [point, low, high] = [figures.elo, figures.elo_low, figures.elo_high].map(elo);
    writeln!(out, "Elo    {point}, 95% interval {low} to {high}")?;
    writeln!(out, "LOS    {}", percent(figures.confidence))?;
    writeln!(out, "\nAs match runners print it, too sure of itself where the counts are small:")?;
    writeln!(out, "Elo    {point} ± {}", plain(figures.elo_error))?;
    writeln!(out, "nElo   {} ± {}", elo(figures.nelo), plain(figures.nelo_error))?;
    writeln!(out, "LOS    {}", percent(figures.los))?;
    let Test { elo0: Some(elo0), elo1: Some(elo1), model: Some(model), .. } = figures.test else {
        return Ok(());
    };
    let Test { llr: Some(llr), lower: Some(lower), upper: Some(upper), verdict, .. } = figures.test
    else {
        return Ok(());
    };
    let verdict = match verdict {
        Some("elo1") => format!("{elo1} Elo accepted"),
        Some(_) => format!("{elo0} Elo accepted"),
        None => "undecided".to_owned(),
    };
    writeln!(out, "\nSequential test of {elo1} against {elo0} Elo, {model}:")?;
    writeln!(out, "LLR    {llr:.3}, bounds {lower:.3} and {upper:.3}: {verdict}")
}
