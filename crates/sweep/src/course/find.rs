//! `find`: the value of a parameter at which two players are even.

use spelrum_engine::{Parameters, Player, Rules, Value, parse_duration_us};
use spelrum_model::course::{
    FindSettings, LedParameter, OPTIONS, Unit, option_named, parameter, set_parameter,
};
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Tree};

use super::super::keys::course::find::{FIND_AT_ONCE, FIND_LOGARITHMIC, FIND_STEPS};
use super::Course;

/// An example of the table.
pub(super) const EXAMPLE: &str =
    "find = { player = \"genetic\", parameter = \"move_time\", from = \"1ms\", to = \"1s\" }";

impl Course<'_> {
    /// Placeholders for the decided parameters in the player.
    pub(super) fn stands_for(&self) -> Result<Vec<Entry>, Fault> {
        let parameter = self.required("parameter")?;
        Ok(vec![Entry {
            key: plain_name(self.text("parameter")?),
            key_place: parameter.place.clone(),
            value: self.required("from")?.clone(),
        }])
    }

    /// Settings of a run at a point, for a player with these parameters.
    pub(super) fn find(&self, rules: &Rules, player: &Parameters) -> Result<FindSettings, Fault> {
        let log = FIND_LOGARITHMIC.read(self.table)?;
        let [from, to] = [self.required("from")?, self.required("to")?];
        let place = &self.required("parameter")?.place;
        let name = plain_name(self.text("parameter")?);
        let parameter = led(rules, player, (&name, place), [from, to], log)?;
        Ok(FindSettings {
            parameter,
            steps: FIND_STEPS.read(self.table)?,
            at_once: FIND_AT_ONCE.read(self.table)?,
        })
    }
}

/// A parameter's name as reports show it: an engine's option without the quotes that TOML needs.
pub(super) fn plain_name(name: &str) -> String {
    option_named(name).map_or_else(|| name.to_owned(), |option| format!("{OPTIONS}.{option}"))
}

/// A parameter with the bounds of the search, for a player that has one of them.
pub(super) fn led(
    rules: &Rules,
    player: &Parameters,
    (name, place): (&str, &Span),
    ends: [&Node; 2],
    log: bool,
) -> Result<LedParameter, Fault> {
    let microseconds = format!("{name}_us");
    let is_option = option_named(name).is_some();
    let (key, unit) = match (parameter(player, name), player.get(&microseconds)) {
        (Some(Value::Integer(_)), _) => (name.to_owned(), Unit::Whole),
        // Such an option has a `start`; the engine's own default is not known before it runs.
        (None, _) if is_option => (name.to_owned(), Unit::Whole),
        (Some(Value::Number(_)), _) => (name.to_owned(), Unit::Real),
        (_, Some(Value::Integer(_))) => (microseconds, Unit::Microseconds),
        (Some(value), _) if is_option => {
            let problem = format!("`{name}` is {value}, which is not a whole number");
            let remedy = "only an engine's options of whole numbers go from a least value to a greatest; [tune] takes \
                          `choices` for others";
            return Err(Fault::at(place, problem, remedy));
        }
        _ => {
            let problem = format!("`{name}` is not a number or a duration");
            let remedy = "name a parameter such as \"move_time\", \"nodes\" or \"depth\"";
            return Err(Fault::at(place, problem, remedy));
        }
    };
    let [low, high] = [number(ends[0], name, unit)?, number(ends[1], name, unit)?];
    if low >= high {
        let problem = format!("there is nothing between {} and {}", ends[0], ends[1]);
        return Err(Fault::at(&ends[1].place, problem, "choose a greater end"));
    }
    if log && low <= 0.0 {
        let problem = format!("{} has no logarithm", ends[0]);
        return Err(Fault::at(
            &ends[0].place,
            problem,
            "begin above 0, or write scale = \"linear\"",
        ));
    }
    let led = LedParameter { name: name.to_owned(), key, unit, low, high, log };
    // Values between two good ones are good.
    let mut with_end = player.clone();
    set_parameter(&mut with_end, &led.key, led.value(high));
    Player::from_parameters(rules, &with_end)
        .map_err(|error| Fault::at(&ends[1].place, error.what, error.remedy))?;
    Ok(led)
}

/// A number of a parameter.
pub(super) fn number(node: &Node, name: &str, unit: Unit) -> Result<f64, Fault> {
    match (&node.tree, unit) {
        (Tree::Scalar(Scalar::Integer(integer)), Unit::Whole | Unit::Real) => Ok(*integer as f64),
        (Tree::Scalar(Scalar::Number(number)), Unit::Real) => Ok(*number),
        (Tree::Scalar(Scalar::Text(text)), Unit::Microseconds) => parse_duration_us(text)
            .map(|us| us as f64)
            .ok_or_else(|| node.wrong_type(&format!("`{name}`"), "a duration", "from = \"1ms\"")),
        _ => Err(node.wrong_type(
            &format!("an end of `{name}`"),
            match unit {
                Unit::Whole => "a whole number",
                Unit::Real => "a number",
                Unit::Microseconds => "a duration",
            },
            match unit {
                Unit::Whole => "from = 1, to = 100000",
                Unit::Real => "from = 0.1, to = 0.9",
                Unit::Microseconds => "from = \"1ms\", to = \"1s\"",
            },
        )),
    }
}
