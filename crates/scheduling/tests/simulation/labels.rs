//! Labels of the simulated machines, and what sweeps ask of them.

use std::sync::Arc;

use spelrum_model::labels::{Label, WantedLabel};
use spelrum_model::placement::Placement;

use crate::dice::Dice;
use crate::machines::draw_bounds;

/// What sweeps may ask for. One machine can have all of it.
const WANTED: [&str; 5] = ["site=a", "site", "fast=1", "gpu", "gpu="];

fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

/// What a machine says of itself: often nothing, or something else.
pub(crate) fn draw_labels(dice: &mut Dice) -> Arc<[Label]> {
    let site = dice.pick(&[None, Some("site=a"), Some("site=b")]);
    let fast = dice.pick(&[None, Some("fast=1"), Some("fast=2")]);
    let gpu = dice.pick(&[None, Some("gpu"), Some("gpu=old")]);
    [site, fast, gpu].into_iter().flatten().map(label).collect()
}

/// What meets everything.
pub(crate) fn all_labels() -> Arc<[Label]> {
    ["site=a", "fast=1", "gpu"].into_iter().map(label).collect()
}

/// What a sweep asks for.
pub(crate) fn draw_placement(dice: &mut Dice) -> Placement {
    let mut some = |per_mille| {
        let wanted = WANTED.iter().filter(|_| dice.chance(per_mille));
        wanted.map(|text| WantedLabel::parse(text).unwrap()).collect()
    };
    let mut placement = Placement { require: some(200), prefer: some(200), ..Placement::default() };
    draw_bounds(dice, &mut placement);
    placement
}

/// Which of them a machine lacks, by their texts.
pub(crate) fn lacking(wanted: &[WantedLabel], labels: &[Label]) -> Vec<WantedLabel> {
    let is_met = |label: &&WantedLabel| {
        let mut texts = labels
            .iter()
            .flat_map(|label| [format!("{}={}", label.name, label.value), label.name.clone()]);
        texts.any(|text| text == label.to_string())
    };
    wanted.iter().filter(|label| !is_met(label)).cloned().collect()
}
