//! Differences of ratings that claims are about.

use std::collections::BTreeSet;

use spelrum_model::CellId;
use spelrum_model::claims::Statement;

use crate::places::places_text;
use crate::ratings::{GamesToRate, RatedPoint, RatingsLimit};
use crate::stated::{RatedLead, StatedClaim};

impl GamesToRate {
    /// Adds the leads of the claims that are about ratings: over the opponent, or over each other player. Only the
    /// claim's own cells are rated, so that games of later cells change nothing.
    ///
    /// # Errors
    /// If there are too many players or games.
    pub fn add_leads(&self, claims: &mut [StatedClaim]) -> Result<(), RatingsLimit> {
        self.check_games()?;
        let points = self.points();
        for claim in claims.iter_mut().filter(|claim| claim.statement.about.is_of_ratings()) {
            let stated: BTreeSet<CellId> = claim.cells.iter().map(|stated| stated.cell).collect();
            for (point, cells) in &points {
                let own = self.among(cells, &stated);
                if own.is_empty() || !self.is_at(&claim.statement, point) {
                    continue;
                }
                let shown = places_text(self.axes(), point).unwrap_or_default();
                claim.leads.extend(leads(&claim.statement, &self.rate_point(&own)?, &shown));
            }
        }
        Ok(())
    }

    /// Whether a claim is about a point.
    fn is_at(&self, statement: &Statement, point: &[Option<String>]) -> bool {
        statement.at.iter().all(|(axis, values)| {
            let value = self.axes().iter().position(|name| name == axis).map(|index| &point[index]);
            value.is_none_or(|value| value.as_ref().is_none_or(|value| values.contains(value)))
        })
    }
}

/// The leads of a claim's player at a point. Over players that it did not meet, directly or through others, nothing is
/// known.
fn leads(statement: &Statement, rated: &RatedPoint<'_>, at: &str) -> Vec<RatedLead> {
    let Some(player) = rated.names.iter().position(|name| *name == statement.player) else {
        return Vec::new();
    };
    let is_compared = |(other, name): &(usize, &&str)| {
        *other != player && statement.opponent.as_ref().is_none_or(|opponent| opponent == *name)
    };
    let lead = |(other, name): (usize, &&str)| {
        let both = rated.components.iter().find_map(|component| {
            let member = |player| component.players().iter().position(|&known| known == player);
            Some((component, member(player)?, member(other)?))
        });
        RatedLead {
            at: at.to_owned(),
            opponent: (*name).to_owned(),
            lead: both.and_then(|(component, player, other)| component.lead(player, other)),
            fits: both.is_none_or(|(component, ..)| {
                component.lack_of_fit().is_none_or(|fit| !fit.is_rejected())
            }),
        }
    };
    rated.names.iter().enumerate().filter(is_compared).map(lead).collect()
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Outcome;
    use spelrum_model::{DefinitionHash, Role};
    use spelrum_statistics::claims::{About, Bound, Quantifier};

    use super::*;
    use crate::ratings::Clusters;
    use crate::stated::StatedCell;

    /// Cells with their players, each with pairs from so many openings, of which the first player wins two of three.
    fn games(cells: &[(i64, &str, &str)], openings: i64) -> GamesToRate {
        let mut games = GamesToRate::on(&[], Clusters::Openings);
        for &(id, player, opponent) in cells {
            games.cell(&[], player.to_owned(), opponent.to_owned());
            games.identify(CellId(id));
            for opening in 0..openings {
                let outcome = if opening % 3 == 0 { Outcome::Loss } else { Outcome::Win };
                games.game(opening, true, outcome);
            }
        }
        games
    }

    fn leads_of(games: &GamesToRate, cells: &[i64]) -> Vec<RatedLead> {
        let cell = |&cell: &i64| StatedCell { cell: CellId(cell), player: Role::Player, games: 8 };
        let mut claims = [StatedClaim {
            text: "a is first".to_owned(),
            statement: Statement {
                player: "a".to_owned(),
                opponent: None,
                at: Vec::new(),
                about: About::RatingLead(Bound::Above(0.0)),
                than: None,
                over: None,
                quantifier: Quantifier::Every,
                error_rate: 0.05,
            },
            hash: DefinitionHash([0; 32]),
            is_late: false,
            in_sweep: true,
            stop_rule: None,
            cells: cells.iter().map(cell).collect(),
            estimates: Vec::new(),
            means: Vec::new(),
            leads: Vec::new(),
        }];
        games.add_leads(&mut claims).unwrap();
        std::mem::take(&mut claims[0].leads)
    }

    /// Players that are added after the claim was stated change nothing of it.
    #[test]
    fn only_the_claims_own_cells_are_rated() {
        let before = leads_of(&games(&[(1, "a", "b")], 12), &[1]);
        let later = [(1, "a", "b"), (2, "b", "c"), (3, "a", "c")];
        assert_eq!(leads_of(&games(&later, 12), &[1]), before);
        assert!(before.len() == 1 && before[0].lead.unwrap().value > 0.0);
    }

    /// A lead over a player that was not met, directly or through others, is unknown.
    #[test]
    fn a_player_that_was_not_met_is_a_case_without_evidence() {
        let leads = leads_of(&games(&[(1, "a", "b"), (2, "c", "d")], 12), &[1, 2]);
        let known: Vec<_> =
            leads.iter().map(|lead| (&*lead.opponent, lead.lead.is_some())).collect();
        assert_eq!(known, [("b", true), ("c", false), ("d", false)]);
    }

    /// One opening has no degrees of freedom, and its answer can still be written as JSON and read.
    #[test]
    fn too_few_openings_show_nothing() {
        let leads = leads_of(&games(&[(1, "a", "b")], 1), &[1]);
        assert_eq!(leads[0].lead, None);
        let json = serde_json::to_string(&leads).unwrap();
        assert_eq!(serde_json::from_str::<Vec<RatedLead>>(&json).unwrap(), leads);
    }
}
