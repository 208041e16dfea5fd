//! `[players.x]`: names, and what each says of its player, `like` resolved.

use spelrum_toml::{Entry, Fault, Node, Span, Table, did_you_mean};

use crate::fields::check_name;
use crate::limits::PLAYERS_MAX;
use crate::merge;
use crate::player_template::{PlayerTemplate, Variant, Varied};
use crate::vary;

/// Maximum number of parameters of a player: no algorithm has so many.
const PARAMETERS_MAX: usize = 128;

const LIKE: &str = "like";
const FROM: &str = "from";
const USE: &str = "use";
const VARY: &str = "vary";

/// The players of a sweep.
#[derive(Debug)]
pub(super) struct Players {
    /// In the file's order.
    pub(super) templates: Vec<PlayerTemplate>,
    /// The variants that may play, a template's together, in the templates' order.
    pub(super) variants: Vec<Variant>,
}

impl Players {
    /// The template of a variant.
    pub(super) fn template(&self, variant: usize) -> &PlayerTemplate {
        &self.templates[self.variants[variant].template]
    }

    /// The variants that a name means: all of a template, or one by its own name.
    pub(super) fn named(&self, name: &str, place: &Span) -> Result<Vec<usize>, Fault> {
        let is_meant = |variant: &usize| {
            self.template(*variant).name == name || self.variants[*variant].name == name
        };
        let indices: Vec<usize> = (0..self.variants.len()).filter(is_meant).collect();
        if indices.is_empty() {
            let templates = self.templates.iter().map(|template| template.name.as_str());
            let variants = self.variants.iter().filter(|variant| !variant.values.is_empty());
            let names = templates.chain(variants.map(|variant| variant.name.as_str()));
            let remedy = did_you_mean(name, "players", names);
            return Err(Fault::at(place, format!("there is no player `{name}`"), remedy));
        }
        Ok(indices)
    }
}

/// Reads `[players]`.
pub(super) fn read(node: &Node) -> Result<Players, Fault> {
    let table = node.table("`players`", "[players.alphabeta]")?;
    if table.entries.len() > PLAYERS_MAX {
        let problem = format!("{} players are too many", table.entries.len());
        return Err(Fault::at(&node.place, problem, format!("name at most {PLAYERS_MAX}")));
    }
    // Refused for any pairing: there would be no pairs, and no cells.
    if table.entries.is_empty() {
        let remedy = "describe each player under a header such as [players.alphabeta]";
        return Err(Fault::at(&node.place, "the sweep has no players", remedy));
    }
    let mut models = Vec::new();
    for entry in &table.entries {
        check_name("a player", &entry.key, &entry.key_place)?;
        let label = format!("the player `{}`", entry.key);
        let example = format!("[players.{}]", entry.key);
        let parameters = entry.value.table(&label, &example)?.entries.len();
        if parameters > PARAMETERS_MAX {
            let problem = format!("{label} has {parameters} parameters");
            let remedy = format!("give it at most {PARAMETERS_MAX}");
            return Err(Fault::at(&entry.key_place, problem, remedy));
        }
        models.push((entry, model(entry, table)?));
    }
    let is_model =
        |name: &str| models.iter().any(|(_, model)| model.is_some_and(|model| model.key == name));
    let templates = models
        .iter()
        .map(|(entry, _)| template(entry, table, is_model(&entry.key)))
        .collect::<Result<Vec<_>, _>>()?;
    let variants = vary::variants(&templates)?;
    Ok(Players { templates, variants })
}

fn template(player: &Entry, players: &Table, is_model: bool) -> Result<PlayerTemplate, Fault> {
    let name = player.key.clone();
    let mut parameters = inherited(player, players)?;
    let mut take = |key: &str| {
        let index = parameters.iter().position(|(_, entry)| entry.key == key)?;
        Some(parameters.remove(index))
    };
    take(LIKE);
    if let Some((_, Entry { key_place, .. })) = take(FROM) {
        // The programs that read sweeps resolve it before they plan.
        let problem =
            format!("`from` of the player `{name}` stands for a player that was not looked up");
        return Err(Fault::at(
            key_place,
            problem,
            "spell its parameters out, or use spelrum submit",
        ));
    }
    let uses = take(USE).map_or(Ok(Vec::new()), |(_, uses)| merge::read(&uses.value))?;
    let mut varied = Vec::new();
    if let Some((distance, vary)) = take(VARY) {
        varied = vary::read(&vary.value, &name)?;
        for Varied { key, key_place, .. } in &varied {
            let Some((set_at, set)) = take(key) else { continue };
            // A model's settings may be overridden; settings beside `vary`, or nearer, must not be.
            if set_at <= distance {
                let place = if set_at < distance { &set.key_place } else { key_place };
                return Err(Fault::at(
                    place,
                    format!("`{key}` of the player `{name}` is set, and varied as well"),
                    "leave one of them out; vary = {} varies nothing",
                ));
            }
        }
    }
    let entries = parameters.into_iter().map(|(_, entry)| entry.clone()).collect();
    let parameters = Table { place: Some(player.key_place.clone()), entries };
    Ok(PlayerTemplate { name, place: player.key_place.clone(), parameters, varied, uses, is_model })
}

/// The player that this one is `like`.
fn model<'a>(player: &Entry, players: &'a Table) -> Result<Option<&'a Entry>, Fault> {
    let Some(like) = player.value.table("a player", "")?.get(LIKE) else { return Ok(None) };
    let name = like.value.text("`like`", "like = \"alphabeta\"")?;
    match players.get(name) {
        Some(model) => Ok(Some(model)),
        None => Err(Fault::at(
            &like.value.place,
            format!("there is no player `{name}`"),
            did_you_mean(name, "players", players.keys()),
        )),
    }
}

/// A player's settings over its model's, and these over the next model's: each key with its distance in
/// players.
fn inherited<'a>(player: &'a Entry, players: &'a Table) -> Result<Vec<(usize, &'a Entry)>, Fault> {
    let mut settings: Vec<(usize, &Entry)> = Vec::new();
    let mut line = vec![player];
    while let Some(&current) = line.last() {
        for entry in &current.value.table("a player", "")?.entries {
            if settings.iter().all(|(_, nearer)| nearer.key != entry.key) {
                settings.push((line.len() - 1, entry));
            }
        }
        let Some(next) = model(current, players)? else { break };
        if line.iter().any(|seen| seen.key == next.key) {
            return Err(Fault::at(
                &player.key_place,
                format!("the player `{}` is like itself, by way of `{}`", next.key, current.key),
                "let one of the players spell out its parameters",
            ));
        }
        line.push(next);
    }
    Ok(settings)
}
