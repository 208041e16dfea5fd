//! `[evolve]` at a point of the grid: turns its table into the settings of its runs.

use spelrum_engine::expression::{FeatureInfo, Function, NODES_MAX, Node as Label};
use spelrum_engine::{Parameters, Rules, Value};
use spelrum_model::course::{EvolveSettings, Fitness, Meet, Reevaluate};
use spelrum_optimize::genetic_programming::breeding::Breeding;
use spelrum_optimize::genetic_programming::selection::{Parsimony, Selection};
use spelrum_optimize::genetic_programming::{Limits, Primitives};
use spelrum_toml::{Entry, Fault, Node, Scalar, Tree, did_you_mean};

use super::super::fields::{number_of_games, texts};
use super::super::keys::course::evolve::{
    CROSSOVER_POINTS, DEPTH, DUPLICATES, ELITE, FITNESS, GENERATIONS, HALL_OF_FAME, INITIAL,
    INITIAL_DEPTH, MEET, MUTATION, MUTATION_RATE, NODES, POPULATION, REEVALUATE, RUNS, SELECTION,
    TOURNAMENT_SIZE,
};
use super::Course;

/// An example of the table.
pub(super) const EXAMPLE: &str =
    "evolve = { player = \"evolved\", population = 25, generations = 50 }";

/// The default name of the bred parameter.
const PARAMETER: &str = "formula";

impl Course<'_> {
    /// A placeholder for the player's formula where one is needed to parse the player: one that every game
    /// has.
    pub(super) fn formula_that_stands_for_any(&self) -> Result<Entry, Fault> {
        let node = self.value("parameter").map_or_else(|| self.required("player"), Ok)?;
        let tree = Tree::Scalar(Scalar::Text("0".to_owned()));
        Ok(Entry {
            key: self.bred()?.to_owned(),
            key_place: node.place.clone(),
            value: Node { place: node.place.clone(), tree },
        })
    }

    fn bred(&self) -> Result<&str, Fault> {
        match self.value("parameter") {
            None => Ok(PARAMETER),
            Some(node) => node.text("`parameter`", "parameter = \"formula\""),
        }
    }

    /// Number of repetitions of the run.
    pub(super) fn runs_each(&self) -> Result<u64, Fault> {
        RUNS.read(self.table)
    }

    /// Settings of the runs. `meets_itself` is whether the pairing lets the player meet only itself, `swap_sides` whether
    /// its games come in pairs, `cut_off_by` what ends games before the game's own rules do.
    pub(super) fn evolve(
        &self,
        rules: &Rules,
        player: &Parameters,
        (meets_itself, swap_sides): (bool, bool),
        cut_off_by: Option<&str>,
    ) -> Result<EvolveSettings, Fault> {
        let features = rules.features();
        let primitives = self.primitives(rules.name(), features)?;
        self.check_parameter(player, features)?;
        let population = POPULATION.read(self.table)?;
        let elite = ELITE.read(self.table)?;
        if elite >= population {
            let place = POPULATION.place(self.table, &self.node.place);
            let place = ELITE.place(self.table, place);
            let problem =
                format!("an elite of {elite} leaves no room in a population of {population}");
            let remedy =
                format!("choose an elite of at most {}, or more individuals", population - 1);
            return Err(Fault::at(place, problem, remedy));
        }
        let depth = DEPTH.read(self.table)?;
        let limits = Limits { depth, nodes: NODES.optional(self.table)?.unwrap_or(NODES_MAX) };
        let initial_depth = INITIAL_DEPTH.optional(self.table)?.unwrap_or(depth);
        if initial_depth > depth {
            return Err(Fault::at(
                INITIAL_DEPTH.place(self.table, &self.node.place),
                format!("`initial_depth` cannot be {initial_depth}"),
                format!("choose 0 to {depth}: no tree is deeper than `depth`"),
            ));
        }
        let (fitness, meet) = (FITNESS.read(self.table)?, MEET.read(self.table)?);
        let hall_of_fame = HALL_OF_FAME.read(self.table)?;
        self.check_meetings(meet, hall_of_fame, meets_itself)?;
        if !swap_sides && (meet != Meet::Opponents || hall_of_fame > 0) {
            let place = &self.value("meet").unwrap_or(self.node).place;
            let problem = "individuals that meet each other need pairs of games";
            return Err(Fault::at(
                place,
                problem,
                "remove swap_sides = false, or let them meet opponents only",
            ));
        }
        if meet != Meet::KnockOut {
            self.check_margins(fitness, rules, cut_off_by)?;
        }
        let breeding = Breeding {
            primitives,
            limits,
            population,
            initial: INITIAL.read(self.table)?,
            initial_depth,
            elite,
            mutation_rate: MUTATION_RATE.read(self.table)?,
            mutation: MUTATION.read(self.table)?,
            points: CROSSOVER_POINTS.read(self.table)?,
            selection: self.selection()?,
            duplicates: DUPLICATES.read(self.table)?,
        };
        Ok(EvolveSettings {
            parameter: self.bred()?.to_owned(),
            features,
            breeding,
            generations: GENERATIONS.read(self.table)?,
            fitness,
            parsimony: self.parsimony()?,
            meet,
            hall_of_fame,
            reevaluate: self.reevaluate(meet, hall_of_fame)?,
            games: self.value("games").map(|node| number_of_games(node, swap_sides)).transpose()?,
        })
    }

    fn check_parameter(&self, player: &Parameters, features: &[FeatureInfo]) -> Result<(), Fault> {
        let name = self.bred()?;
        let is_formula = |value: &Value| {
            let Value::Text(text) = value else { return false };
            spelrum_engine::expression::Expression::parse(text, features).is_ok()
        };
        if player.get(name).is_some_and(is_formula) {
            return Ok(());
        }
        let node = self.value("parameter").unwrap_or(self.node);
        let problem = format!("`{name}` is not a formula of the player");
        let remedy = "give the player evaluation = \"expression\", and breed its \"formula\"";
        Err(Fault::at(&node.place, problem, remedy))
    }

    fn primitives(&self, game: &str, all: &[FeatureInfo]) -> Result<Primitives, Fault> {
        let example = "functions = [\"+\", \"-\"]";
        let mut functions = Vec::new();
        match self.value("functions") {
            None => functions.extend(Function::ALL),
            Some(node) => {
                for (text, place) in texts(node, "`functions`", example)? {
                    let function = Function::ALL
                        .into_iter()
                        .find(|function| function.symbol().to_string() == text);
                    let Some(function) = function else {
                        let problem = format!("there is no function \"{text}\"");
                        return Err(Fault::at(
                            place,
                            problem,
                            "choose from \"+\", \"-\", \"*\" and \"/\"",
                        ));
                    };
                    if functions.contains(&function) {
                        let problem = format!("the function \"{text}\" is there twice");
                        return Err(Fault::at(place, problem, "remove one"));
                    }
                    functions.push(function);
                }
            }
        }
        let mut leaves: Vec<Label> = Vec::new();
        match self.value("features") {
            None => {
                let usual = (0..).zip(all).filter(|(_, feature)| feature.is_usual);
                leaves.extend(usual.map(|(number, _)| Label::Feature(number)));
            }
            Some(node) => {
                for (text, place) in texts(node, "`features`", "features = [\"own_rows\"]")? {
                    let Some(number) = all.iter().position(|feature| feature.name == text) else {
                        let problem = format!("{game} has no feature `{text}`");
                        let names = all.iter().map(|feature| feature.name);
                        return Err(Fault::at(
                            place,
                            problem,
                            did_you_mean(text, "features", names),
                        ));
                    };
                    let leaf = Label::Feature(u16::try_from(number).unwrap_or(u16::MAX));
                    if leaves.contains(&leaf) {
                        let problem = format!("the feature `{text}` is there twice");
                        return Err(Fault::at(place, problem, "remove one"));
                    }
                    leaves.push(leaf);
                }
            }
        }
        if let Some(node) = self.value("constants") {
            const EXAMPLE: &str = "constants = [1, 10]";
            for node in node.list("`constants`", "a list", EXAMPLE)? {
                let constant = node.number("a constant", EXAMPLE)?;
                // Formulas cannot distinguish -0 from 0.
                let leaf = Label::Constant(constant + 0.0);
                if leaves.contains(&leaf) {
                    let problem = format!("the constant {constant} is there twice");
                    return Err(Fault::at(&node.place, problem, "remove one"));
                }
                leaves.push(leaf);
            }
        }
        if leaves.is_empty() {
            let node = self.value("features").unwrap_or(self.node);
            let problem = match all.is_empty() {
                true => format!("{game} has no features, and there are no constants"),
                false => "trees have no leaves: there are no features and no constants".to_owned(),
            };
            let remedy = "name features of the game, or evolve formulas of another game";
            return Err(Fault::at(&node.place, problem, remedy));
        }
        Ok(Primitives { functions, leaves })
    }

    fn selection(&self) -> Result<Selection, Fault> {
        let size = TOURNAMENT_SIZE.read(self.table)?;
        Ok(match SELECTION.read(self.table)? {
            Selection::Tournament(_) => Selection::Tournament(size),
            selection @ (Selection::Study | Selection::Proportional) => selection,
        })
    }

    fn parsimony(&self) -> Result<Parsimony, Fault> {
        let Some(node) = self.value("parsimony") else { return Ok(Parsimony::Free) };
        if let Tree::Scalar(Scalar::Text(word)) = &node.tree {
            return match word.as_str() {
                "none" => Ok(Parsimony::Free),
                "lexicographic" => Ok(Parsimony::Lexicographic),
                other => {
                    let problem = format!("`parsimony` cannot be \"{other}\"");
                    let remedy = did_you_mean(other, "choices", ["none", "lexicographic"]);
                    Err(Fault::at(&node.place, problem, remedy))
                }
            };
        }
        let price = node.number("`parsimony`", "").map_err(|_| {
            node.wrong_type("`parsimony`", "a word or a number", "parsimony = \"lexicographic\"")
        })?;
        match price >= 0.0 {
            true => Ok(Parsimony::PerNode(price)),
            false => {
                let problem = format!("`parsimony` cannot be {price}");
                Err(Fault::at(&node.place, problem, "choose what a node costs: 0 or more"))
            }
        }
    }

    fn check_meetings(
        &self,
        meet: Meet,
        hall_of_fame: usize,
        meets_itself: bool,
    ) -> Result<(), Fault> {
        let fault = |key: &str, problem: &str, remedy: &str| {
            let node = self.value(key).unwrap_or(self.node);
            Err(Fault::at(&node.place, problem, remedy))
        };
        match meet {
            Meet::Opponents if meets_itself => fault(
                "meet",
                "individuals have no opponent to meet",
                "write meet = \"league\" or \"knock-out\", or pair the player with others",
            ),
            Meet::KnockOut if hall_of_fame > 0 => fault(
                "hall_of_fame",
                "a knock-out has no games against a hall of fame",
                "remove it, or choose another `meet`",
            ),
            Meet::Opponents | Meet::League | Meet::KnockOut => Ok(()),
        }
    }

    fn check_margins(
        &self,
        fitness: Fitness,
        rules: &Rules,
        cut_off_by: Option<&str>,
    ) -> Result<(), Fault> {
        let node = self.value("fitness").unwrap_or(self.node);
        let problem = match cut_off_by {
            _ if !fitness.needs_margins() => return Ok(()),
            _ if !has_margins(rules) => format!("games of {} have no margin", rules.name()),
            Some(key) => format!("games that `{key}` ends have no margin, and would count as even"),
            None => return Ok(()),
        };
        let remedy = match cut_off_by.filter(|_| has_margins(rules)) {
            Some(key) => format!("remove `{key}`, or write fitness = \"score\""),
            None => "write fitness = \"score\"".to_owned(),
        };
        Err(Fault::at(&node.place, problem, remedy))
    }

    fn reevaluate(&self, meet: Meet, hall_of_fame: usize) -> Result<Reevaluate, Fault> {
        let reevaluate = REEVALUATE.optional(self.table)?;
        if meet == Meet::Opponents && hall_of_fame == 0 {
            return Ok(reevaluate.unwrap_or(Reevaluate::Children));
        }
        match reevaluate {
            None | Some(Reevaluate::Always) => Ok(Reevaluate::Always),
            Some(Reevaluate::Children | Reevaluate::New) => {
                let node = self.value("reevaluate").unwrap_or(self.node);
                let problem = "whom individuals meet changes from generation to generation, so none can keep \
                               what it came to";
                Err(Fault::at(&node.place, problem, "write reevaluate = \"always\", or remove it"))
            }
        }
    }
}

/// Whether games have a margin.
fn has_margins(rules: &Rules) -> bool {
    rules.game().margin.is_some()
}
