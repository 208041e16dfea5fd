//! Tables that can be requested by name.

use clap::ValueEnum;

/// The tables there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableName {
    /// What the sweep claimed of its results, and what came of it
    Claims,
    /// What the runs of an experiment that depends on its own results found
    Runs,
    /// Fitness by generation, where formulas were bred
    Evolution,
    /// The best that were bred, and their ancestors
    Family,
    /// Who is stronger in each cell
    Cells,
    /// How well each player of an accuracy experiment chooses
    Accuracy,
    /// How often each of them keeps a win
    Wins,
    /// The same by the plies of random play before the position
    Plies,
    /// What players score where they move first, and where they move second
    Colours,
    /// By how much games are won, where the game counts that
    Margins,
    /// What a move costs
    Moves,
    /// What a move costs at each depth that searches completed
    Depths,
    /// Which external engines the players were
    Engines,
    /// Which players lost games by failing: crashes, time, stalls, illegal moves
    Forfeits,
    /// Cells with timed games in which the machine took time from players
    Disturbed,
    /// Cells in which games failed, or were lost and played again
    Failures,
    /// How strong players are on one scale
    Ratings,
    /// How much every two players differ on that scale
    Differences,
    /// Who scored what against whom
    Meetings,
    /// What is gained from cell to cell
    Gains,
    /// What each axis does over all cells
    Effects,
    /// Cells that were done again with other seeds
    Replicates,
    /// How long a move takes in each phase of the game
    Phases,
    /// How long a move takes in the same mix of phases
    Standardised,
    /// How long games are
    Lengths,
    /// How games end
    Terminations,
    /// Workers and builds of the results: machines, games and times
    Workers,
    /// Effects of workers: what each adds to scores, times and nodes
    WorkerEffects,
}

impl TableName {
    /// Returns all names, in a sentence.
    pub fn listed() -> String {
        let names = Self::value_variants().iter().filter_map(Self::to_possible_value);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        match names.split_last() {
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }

    /// Whether an accuracy experiment has this table, too.
    pub(crate) const fn is_also_of_choices(self) -> bool {
        matches!(
            self,
            Self::Accuracy
                | Self::Wins
                | Self::Plies
                | Self::Moves
                | Self::Depths
                | Self::Engines
                | Self::Forfeits
                | Self::Disturbed
                | Self::Workers
                | Self::Phases
                | Self::Standardised
        )
    }
}
