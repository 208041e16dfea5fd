//! Games with openings, and players: each made once for each combination of the values of its axes.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use indexmap::IndexMap;
use indexmap::map::Entry;
use spelrum_engine::{Game as _, KeyProblem, Player, Rules, with_game};
use spelrum_model::seeds::canonical_json;
use spelrum_model::{Openings, OpeningsError, OpeningsRule, PlannedPlayer, SkippedEntries, Task};
use spelrum_toml::{Fault, Node, Span};

use crate::accuracy;
use crate::axes::Axis;
use crate::file::SweepFile;
use crate::limits::DEFAULT_SEED;
use crate::merge;
use crate::player_template;
use crate::points::CELLS_MAX;
use crate::resolve::{self, PlayerEntry};
use crate::template::{Source, Uses, substitute};

/// Maximum number of games with openings: each is enumerated and held while planning (invariant 9).
const SETTINGS_MAX: usize = 1_000;

/// Maximum cost of finding the openings of all settings, in moves: twice that of the largest single one
/// (invariant 9).
pub(super) const OPENINGS_COST_MAX: u64 = 1 << 25;

/// Maximum number of listed positions over all combinations of the values that openings and games name: each
/// combination reads its list anew (invariant 9).
const LISTED_MAX: usize = 1 << 20;

/// Distinct items by key, numbered in order of insertion: planning depends on that order, never on the hash.
pub(super) type Numbered<K, V> = IndexMap<K, V, FixedState>;

/// Makes settings and players as points need them.
pub(super) struct Instances<'a> {
    file: &'a SweepFile,
    /// By their canonical JSON.
    pub(super) settings: Numbered<String, Setting>,
    setting_choices: Choices,
    /// Their numbers by their text: many combinations may have the same text.
    settings_by_text: BTreeMap<String, usize>,
    /// Number of positions listed, over all combinations of values.
    listed: usize,
    /// Remaining cost allowed for finding openings.
    openings_cost_left: u64,
    /// Skipped entries of the books.
    pub(super) skipped: Vec<SkippedEntries>,
    pub(super) players: Numbered<PlannedPlayer, PlayerTraits>,
    /// The variants' sources.
    variants: Vec<Variant<'a>>,
}

/// A game with openings, and the seed that these are drawn with.
pub(super) struct Setting {
    pub(super) seed: u64,
    pub(super) rules: Rules,
    pub(super) rule: OpeningsRule,
    pub(super) openings: Openings,
}

/// Properties of a player that planning needs besides its parameters.
pub(super) struct PlayerTraits {
    pub(super) draws_random_numbers: bool,
    pub(super) is_timed: bool,
    /// Whether it is assumed to replay a game whose opening recurs: see [`repeats`](Player::repeats).
    pub(super) repeats: bool,
}

/// A variant's settings, with the sources of their values.
struct Variant<'a> {
    name: &'a str,
    place: &'a Span,
    sources: Vec<(&'a str, &'a Span, Source<'a>)>,
    /// The axes whose tables it uses.
    used: Vec<usize>,
    choices: Choices,
}

impl<'a> Instances<'a> {
    /// Starts with nothing made. Refuses references to missing axes, and unused axes. The cost of finding
    /// openings is bounded: see [`OPENINGS_COST_MAX`].
    pub(super) fn new(file: &'a SweepFile, openings_cost_max: u64) -> Result<Self, Fault> {
        let axes = &file.axes;
        let mut uses = Uses::default();
        let setting = [Some(&file.game), file.openings.as_ref(), file.seed.as_ref()];
        for node in setting.into_iter().flatten() {
            uses.note(node, axes)?;
        }
        let setting_axes = uses.axes();
        let led = file
            .course
            .as_ref()
            .map(|course| (course, file.players.variants[course.subject].template));
        let mut template_axes = Vec::with_capacity(file.players.templates.len());
        for (number, template) in file.players.templates.iter().enumerate() {
            let mut template_uses = Uses::default();
            let tables = merge::axes(template, axes)?;
            for &axis in &tables {
                template_uses.note_tables(axis, axes);
            }
            for entry in &template.parameters.entries {
                template_uses.note(&entry.value, axes)?;
            }
            if let Some((course, _)) = led.filter(|(_, subject)| *subject == number) {
                for axis in merge::axes_of_course(&course.node, axes)? {
                    template_uses.note_tables(axis, axes);
                }
                template_uses.note(&merge::merge_course(&course.node, &[], axes, &[]), axes)?;
            }
            uses.extend(&template_uses);
            // A player is parsed under the rules of its game.
            let mut used = template_uses.axes();
            used.extend(&setting_axes);
            used.sort_unstable();
            used.dedup();
            template_axes.push((used, tables));
        }
        uses.check_all_used(axes)?;
        let variant = |variant: &'a player_template::Variant| {
            let template = &file.players.templates[variant.template];
            let (axes_named, tables) = &template_axes[variant.template];
            let written = template.parameters.entries.iter().map(|entry| {
                (entry.key.as_str(), &entry.key_place, Source::from_node(&entry.value, axes))
            });
            let varied = template.varied.iter().zip(&variant.values).map(|(varied, &value)| {
                (varied.key.as_str(), &varied.key_place, Source::Written(&varied.values[value]))
            });
            let led = led.filter(|(_, subject)| *subject == variant.template);
            let stands_for = led.iter().flat_map(|(course, _)| &course.stands_for).map(|entry| {
                (entry.key.as_str(), &entry.key_place, Source::from_node(&entry.value, axes))
            });
            Variant {
                name: &variant.name,
                place: &template.place,
                sources: written.chain(varied).chain(stands_for).collect(),
                used: tables.clone(),
                choices: Choices::new(axes_named, axes),
            }
        };
        Ok(Self {
            file,
            settings: Numbered::default(),
            setting_choices: Choices::new(&setting_axes, axes),
            settings_by_text: BTreeMap::new(),
            listed: 0,
            openings_cost_left: openings_cost_max,
            skipped: Vec::new(),
            players: Numbered::default(),
            variants: file.players.variants.iter().map(variant).collect(),
        })
    }

    /// The seed of the grid's first point.
    pub(super) fn first_seed(&self) -> Result<u64, Fault> {
        self.seed(&vec![0; self.file.axes.len()])
    }

    fn seed(&self, point: &[u32]) -> Result<u64, Fault> {
        let node = self.file.seed.as_ref();
        node.map_or(Ok(DEFAULT_SEED), |node| {
            resolve::seed(&substitute(node, &self.file.axes, point))
        })
    }

    /// The game and openings at a point.
    pub(super) fn setting(&mut self, point: &[u32]) -> Result<usize, Fault> {
        let file = self.file;
        if let Some(index) = self.setting_choices.number_at(point) {
            return Ok(index);
        }
        let at_point = |node: &Node| substitute(node, &file.axes, point);
        let seed = self.seed(point)?;
        let rules = resolve::game(&at_point(&file.game))?;
        let openings = file.openings.as_ref().map(at_point);
        let seeds = [seed, self.first_seed()?];
        let openings = openings
            .map(|node| file.files.fill(node, &rules, seeds, &mut self.skipped))
            .transpose()?;
        let rule = match &openings {
            Some(node) => resolve::openings(node).map_err(|fault| self.about_openings(fault))?,
            None => OpeningsRule::Start {},
        };
        if let Some(adjudication) = &file.adjudication {
            adjudication.check_setting(&rules, &rule)?;
        }
        let place = openings.as_ref().unwrap_or(&file.game);
        if let OpeningsRule::Listed { positions } = &rule {
            self.listed += positions.len();
            if self.listed > LISTED_MAX {
                let problem = "this sweep lists too many openings under too many conditions";
                let remedy = format!("list at most {LISTED_MAX} in all, or draw them at random");
                return Err(Fault::at(&place.place, problem, remedy));
            }
        }
        let identity = canonical_json(&(seed, &rules, &rule));
        if let Some(&existing) = self.settings_by_text.get(&identity) {
            self.setting_choices.remember(point, existing);
            return Ok(existing);
        }
        if self.settings.len() >= SETTINGS_MAX {
            let problem = "this sweep has too many games and openings";
            let remedy = format!("sweep at most {SETTINGS_MAX} combinations of them");
            return Err(Fault::at(&place.place, problem, remedy));
        }
        let setting =
            setting(seed, rules, &rule).map_err(|error| resolve::openings_fault(&error, place));
        let setting = setting.map_err(|fault| self.about_openings(fault))?;
        self.openings_cost_left = self
            .openings_cost_left
            .checked_sub(setting.openings.cost())
            .ok_or_else(|| dear_openings(&place.place))?;
        let index =
            match self.settings.entry(canonical_json(&(seed, &setting.rules, &setting.rule))) {
                Entry::Occupied(occupied) => occupied.index(),
                Entry::Vacant(new) => new.insert_entry(setting).index(),
            };
        self.settings_by_text.insert(identity, index);
        self.setting_choices.remember(point, index);
        Ok(index)
    }

    /// Phrases a fault in openings in the terms of the sweep's kind.
    fn about_openings(&self, fault: Fault) -> Fault {
        match self.file.task {
            Task::Game => fault,
            Task::Choice => {
                fault.replace_words(&[("an opening", "a position"), ("opening", "position")])
            }
        }
    }

    /// Number of distinct openings of a setting, counted up to `wanted`.
    pub(super) fn distinct_openings(&mut self, setting: usize, wanted: u64) -> Result<u64, Fault> {
        let openings = &self.settings[setting].openings;
        let before = openings.cost();
        let most = before.saturating_add(self.openings_cost_left);
        let distinct = openings.distinct_within(wanted, most);
        let left = self.openings_cost_left.checked_sub(openings.cost() - before);
        let (Some(distinct), Some(left)) = (distinct, left) else {
            let place = self.file.openings.as_ref().unwrap_or(&self.file.game);
            return Err(dear_openings(&place.place));
        };
        self.openings_cost_left = left;
        Ok(distinct)
    }

    /// A variant at a point with this setting.
    pub(super) fn player(
        &mut self,
        variant: usize,
        setting: usize,
        point: &[u32],
    ) -> Result<usize, Fault> {
        let Variant { name, place, sources, used, choices } = &mut self.variants[variant];
        if let Some(index) = choices.number_at(point) {
            return Ok(index);
        }
        let axes = &self.file.axes;
        // Parts of a table or a list may refer to axes, too.
        let filled: Vec<Option<Node>> =
            sources.iter().map(|(_, _, source)| source.filled(axes, point)).collect();
        let mut entries: Vec<PlayerEntry<'_>> = sources
            .iter()
            .zip(&filled)
            .filter_map(|(&(key, key_place, source), filled)| {
                let value = filled.as_ref().or_else(|| source.at(axes, point))?;
                Some(PlayerEntry { key, key_place, value })
            })
            .collect();
        merge::merge(&mut entries, used, &self.file.axes, point);
        let setting = &self.settings[setting];
        let builds = self.file.builds.as_ref().filter(|_| !self.file.any_build);
        let player = resolve::player(&setting.rules, name, place, &entries, builds)?;
        if let Err(error) = check_starts(&player, setting) {
            let algorithm = entries.iter().find(|entry| entry.key == "algorithm");
            let place = algorithm.map_or(*place, |entry| &entry.value.place);
            let problem = format!("player `{name}`: {}", error.what);
            return Err(self.about_openings(Fault::at(place, problem, error.remedy)));
        }
        if self.file.task == Task::Choice && *name == accuracy::REFERENCE {
            accuracy::check_player(&player, place)?;
        }
        let planned = PlannedPlayer::new(player.parameters());
        let (index, _) = self.players.insert_full(
            planned,
            PlayerTraits {
                draws_random_numbers: player.draws_random_numbers(),
                is_timed: player.is_timed(),
                repeats: player.repeats(),
            },
        );
        choices.remember(point, index);
        Ok(index)
    }
}

fn dear_openings(place: &Span) -> Fault {
    Fault::at(
        place,
        "finding the openings of this sweep takes too long",
        "sweep fewer games and openings, choose fewer plies, or play fewer games",
    )
}

/// Refuses a player whose games cannot begin at the setting's openings.
fn check_starts(player: &Player, setting: &Setting) -> Result<(), KeyProblem> {
    if player.begins_anywhere() {
        return Ok(());
    }
    let rules = &setting.rules;
    match &setting.rule {
        // A table's positions are all in the player's table.
        OpeningsRule::Ending { .. } => Ok(()),
        OpeningsRule::Listed { positions } => {
            positions.iter().try_for_each(|position| player.check_start(rules, position))
        }
        // Random play goes from the start, to an unknown distance.
        OpeningsRule::Start {}
        | OpeningsRule::Random { .. }
        | OpeningsRule::Strata { .. }
        | OpeningsRule::All { .. } => {
            let start = with_game!(rules, G => G::start(rules).map(|start| start.to_string()));
            player.check_start(rules, &start.unwrap_or_default())
        }
    }
}

/// Rules with openings; listed ones in the game's own notation.
fn setting(seed: u64, rules: Rules, rule: &OpeningsRule) -> Result<Setting, OpeningsError> {
    let openings = Openings::new(seed, &rules, rule)?;
    let normalized = openings.normalized(rule);
    Ok(Setting { seed, rules, rule: normalized, openings })
}

/// Items made, by the combination of the values of some axes.
struct Choices {
    /// The axes, each with the number of its values.
    axes: Vec<(usize, usize)>,
    numbers: Numbers,
}

/// Numbers by combination.
enum Numbers {
    /// At most as many combinations as cells: a slot for each, once one is made.
    Listed(Vec<Option<u32>>),
    /// More combinations, of which few are made.
    Scattered(BTreeMap<u128, u32>),
}

impl Choices {
    fn new(used: &[usize], axes: &[Axis]) -> Self {
        let axes: Vec<_> = used.iter().map(|&axis| (axis, axes[axis].values.len())).collect();
        let numbers = match combinations(&axes) {
            Some(_) => Numbers::Listed(Vec::new()),
            None => Numbers::Scattered(BTreeMap::new()),
        };
        Self { axes, numbers }
    }

    /// The item at a point's combination, if made.
    fn number_at(&self, point: &[u32]) -> Option<usize> {
        let slot = self.slot(point);
        let number = match &self.numbers {
            Numbers::Listed(numbers) => *numbers.get(slot as usize)?,
            Numbers::Scattered(numbers) => numbers.get(&slot).copied(),
        };
        number.map(|number| number as usize)
    }

    fn remember(&mut self, point: &[u32], number: usize) {
        let slot = self.slot(point);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        match &mut self.numbers {
            Numbers::Listed(numbers) => {
                if numbers.is_empty() {
                    numbers.resize(combinations(&self.axes).unwrap_or(0), None);
                }
                numbers[slot as usize] = Some(number);
            }
            Numbers::Scattered(numbers) => {
                numbers.insert(slot, number);
            }
        }
    }

    /// The number of a point's combination; the grid has fewer than 2^128.
    fn slot(&self, point: &[u32]) -> u128 {
        self.axes
            .iter()
            .fold(0, |slot, &(axis, size)| slot * size as u128 + u128::from(point[axis]))
    }
}

/// Number of combinations, unless more than cells.
fn combinations(axes: &[(usize, usize)]) -> Option<usize> {
    axes.iter().try_fold(1, |combinations: usize, &(_, size)| {
        combinations.checked_mul(size).filter(|&combinations| combinations <= CELLS_MAX)
    })
}
