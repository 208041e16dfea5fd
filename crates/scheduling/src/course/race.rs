//! `[race]`: which of several players is first, by rounds from common openings.

use std::collections::VecDeque;
use std::mem;

use spelrum_model::AxisValue;
use spelrum_model::course::{Behind, Estimated, Note, RaceSettings, RaceStandings, Runner, STEP};
use spelrum_statistics::racing::{Chance, Race, RaceVerdict};

use super::outcome::CellOutcome;
use super::run::{Asked, Opponent, Run};

/// A meeting of a race by its players, in the order of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pairing {
    /// The compared player whose view an outcome has.
    pub(super) subject: usize,
    /// Its opponent, if that is compared, too.
    pub(super) rival: Option<usize>,
}

/// A run of `[race]` under way.
pub(super) struct RaceRun {
    settings: RaceSettings,
    race: Race,
    meetings: Vec<Pairing>,
    /// The meetings of the current round without outcomes, in order.
    open: VecDeque<Pairing>,
    /// The scores of each player in the current round, one for each of its cells; `None` without a whole pair.
    scores: Vec<Vec<Option<f64>>>,
    /// Games of each player so far, in whole pairs.
    games: Vec<u64>,
    notes: Vec<Note>,
}

impl RaceRun {
    /// A race with these meetings, with this many games in each cell.
    pub(super) fn new(settings: &RaceSettings, meetings: Vec<Pairing>, games: u64) -> Self {
        let players = settings.players.len();
        let cells_of_first = meetings.iter().filter(|pairing| pairing.plays(0)).count() as u64;
        Self {
            settings: settings.clone(),
            race: Race::new(settings.rule, players, cells_of_first * (games / 2)),
            meetings,
            open: VecDeque::new(),
            scores: vec![Vec::new(); players],
            games: vec![0; players],
            notes: Vec::new(),
        }
    }

    /// The mean of a player's cells in the round; `None` if one of them has no whole pair, so that a player does not
    /// gain by games that failed against a strong opponent.
    fn score(scores: &[Option<f64>]) -> Option<f64> {
        let sum: Option<f64> = scores.iter().copied().sum();
        sum.filter(|_| !scores.is_empty()).map(|sum| sum / scores.len() as f64)
    }

    fn end_round(&mut self) {
        let scores: Vec<Option<f64>> =
            self.scores.iter().map(|scores| Self::score(scores)).collect();
        self.scores.iter_mut().for_each(Vec::clear);
        self.race.add_round(&scores);
        let race = Some(self.standings());
        let step = self.race.rounds() - 1;
        self.notes.push(Note::Estimated(step, Estimated { estimates: Vec::new(), race }));
    }

    fn standings(&self) -> RaceStandings {
        let RaceSettings { players, rule } = &self.settings;
        let leader = self.race.leader();
        let runner = |player: usize| {
            let [points, low, high] = self.race.lead(leader, player);
            let (out_after, out_by) = match self.race.chances()[player] {
                Chance::In => (None, None),
                Chance::Out { after, by } => (Some(after), Some(players[by].clone())),
            };
            Runner {
                player: players[player].clone(),
                games: self.games[player],
                score: self.race.score(player),
                behind: (player != leader).then_some(Behind { points, low, high }),
                out_after,
                out_by,
            }
        };
        let first = match self.race.verdict() {
            Some(RaceVerdict::First(first) | RaceVerdict::Within(first)) => Some(first),
            Some(RaceVerdict::Unknown) | None => None,
        };
        RaceStandings {
            rounds_max: rule.rounds(),
            error_rate: rule.error_rate(),
            within: rule.within(),
            first: first.map(|first| players[first].clone()),
            players: (0..players.len()).map(runner).collect(),
        }
    }
}

impl Pairing {
    fn players(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.subject).chain(self.rival)
    }

    fn plays(self, player: usize) -> bool {
        self.players().any(|its| its == player)
    }
}

impl Run for RaceRun {
    fn ask(&mut self) -> Vec<Asked> {
        if self.has_ended() || !self.open.is_empty() {
            return Vec::new();
        }
        let round = self.race.rounds();
        let mut new = Vec::new();
        for (number, &pairing) in self.meetings.iter().enumerate() {
            // A player that is out plays on as an opponent of those that are compared by their games against it.
            if !pairing.players().any(|player| self.race.chances()[player] == Chance::In) {
                continue;
            }
            self.open.push_back(pairing);
            new.push(Asked {
                parameters: Vec::new(),
                opponent: Opponent::Player(number),
                opponent_parameters: Vec::new(),
                series: Some((round, 0)),
                games: None,
                axes: vec![(STEP.to_owned(), AxisValue::from_integer(round))],
            });
        }
        new
    }

    fn tell(&mut self, _: u64, outcome: &CellOutcome) {
        let Some(Pairing { subject, rival }) = self.open.pop_front() else { return };
        let pairs = outcome.pairs.pairs();
        let score = (pairs > 0).then(|| outcome.pairs.interval().score);
        let sides = [Some((subject, score)), rival.map(|rival| (rival, score.map(|s| 1.0 - s)))];
        for (player, score) in sides.into_iter().flatten() {
            self.scores[player].push(score);
            self.games[player] += 2 * pairs;
        }
        if self.open.is_empty() {
            self.end_round();
        }
    }

    fn has_ended(&self) -> bool {
        self.race.verdict().is_some()
    }

    fn take_notes(&mut self) -> Vec<Note> {
        mem::take(&mut self.notes)
    }
}
