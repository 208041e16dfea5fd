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
