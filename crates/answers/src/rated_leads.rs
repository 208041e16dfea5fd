//! Differences of ratings that claims are about.

use spelrum_model::claims::Statement;
use spelrum_statistics::ratings::Component;

use crate::places::places_text;
use crate::ratings::{GamesToRate, RatingsLimit};
use crate::stated::{RatedLead, StatedClaim};

impl GamesToRate {
    /// Adds the leads of the claims that are about ratings: over the opponent, or over each other player.
    ///
    /// # Errors
    /// If there are too many players or games.
    pub fn add_leads(&self, claims: &mut [StatedClaim]) -> Result<(), RatingsLimit> {
        self.check_games()?;
        for (point, cells) in self.points() {
            let at = |claim: &&mut StatedClaim| {
                claim.statement.about.is_of_ratings() && self.is_at(&claim.statement, &point)
            };
            let mut claims = claims.iter_mut().filter(at).peekable();
            if claims.peek().is_none() {
                continue;
            }
            let rated = self.rate_point(&cells)?;
            let shown = places_text(self.axes(), &point).unwrap_or_default();
            for claim in claims {
                for component in &rated.components {
                    let found = leads(&claim.statement, component, &rated.names, &shown);
                    claim.leads.extend(found);
                }
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

/// The leads of a claim's player in a component.
fn leads(statement: &Statement, component: &Component, names: &[&str], at: &str) -> Vec<RatedLead> {
    let members = || component.players().iter().map(|&player| names[player]).enumerate();
    let Some((player, _)) = members().find(|(_, name)| *name == statement.player) else {
        return Vec::new();
    };
    let is_compared = |(member, name): &(usize, &str)| {
        *member != player && statement.opponent.as_ref().is_none_or(|opponent| opponent == name)
    };
    let lead = |(member, name): (usize, &str)| RatedLead {
        at: at.to_owned(),
        opponent: name.to_owned(),
        lead: component.lead(player, member),
        fits: component.lack_of_fit().is_none_or(|fit| !fit.is_rejected()),
    };
    members().filter(is_compared).map(lead).collect()
}
