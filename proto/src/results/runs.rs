//! Runs of experiments that depend on their own results.

use spelrum_answers::{Evolution, Relative, RunResult};
use spelrum_model::AxisValue;
use spelrum_model::course::{
    Begun, Bounds, Confirmed, CourseKind, Estimate, Generation, Individual, Place, Setting,
    SettingsScore,
};

use crate::wire_error::{finite, number};
use crate::{Fault, WireError, v1};

impl From<RunResult> for v1::CourseRun {
    fn from(of: RunResult) -> Self {
        let RunResult { run, begun, steps, estimates, confirmed, ended, player_json, evolution } =
            of;
        let Begun { kind, player, opponents, axes, start } = begun;
        let place = |Place { axis, value }| v1::CoursePlace { axis, value: Some(shown(value)) };
        let setting = |Setting { parameter, value }| v1::CourseSetting {
            parameter,
            value: Some(shown(value)),
        };
        let confirmed = confirmed.map(|Confirmed { found, start }| v1::CourseConfirmation {
            found: Some(found.into()),
            start: start.map(Into::into),
        });
        Self {
            run,
            kind: kind.name().to_owned(),
            player,
            opponents,
            axes: axes.into_iter().map(place).collect(),
            steps,
            estimates: estimates.into_iter().map(Into::into).collect(),
            ended,
            start: start.into_iter().map(setting).collect(),
            confirmed,
            evolution: evolution.map(Into::into),
            player_json,
        }
    }
}

impl From<SettingsScore> for v1::CourseScore {
    fn from(SettingsScore { games, score, low, high }: SettingsScore) -> Self {
        Self { games, score, low, high }
    }
}

impl TryFrom<v1::CourseScore> for SettingsScore {
    type Error = WireError;

    fn try_from(told: v1::CourseScore) -> Result<Self, WireError> {
        Ok(Self {
            games: number("games", told.games)?,
            score: finite("score", told.score)?,
            low: finite("low", told.low)?,
            high: finite("high", told.high)?,
        })
    }
}

impl TryFrom<v1::CourseConfirmation> for Confirmed {
    type Error = WireError;

    fn try_from(told: v1::CourseConfirmation) -> Result<Self, WireError> {
        let found = told.found.ok_or_else(|| WireError::new("found", Fault::Missing))?;
        Ok(Self { found: found.try_into()?, start: told.start.map(TryInto::try_into).transpose()? })
    }
}

impl From<Evolution> for v1::Evolution {
    fn from(Evolution { generations, family }: Evolution) -> Self {
        let generation = |it: Generation| v1::Generation {
            individuals: it.individuals,
            measured: it.measured,
            best_individual: it.best_individual,
            best: it.best,
            mean: it.mean,
            least: it.least,
            sd: it.sd,
            distinct: it.distinct,
            mean_size: it.mean_size,
            mean_depth: it.mean_depth,
        };
        let relative = |Relative { generation, index, individual, fitness }: Relative| {
            let Individual { formula, simplified, size, depth, operator, parents } = individual;
            v1::Relative {
                generation,
                index,
                formula,
                simplified,
                size,
                depth,
                operator,
                parents,
                fitness,
            }
        };
        Self {
            generations: generations.into_iter().map(generation).collect(),
            family: family.into_iter().map(relative).collect(),
        }
    }
}

impl TryFrom<v1::Evolution> for Evolution {
    type Error = WireError;

    fn try_from(told: v1::Evolution) -> Result<Self, WireError> {
        let fitness = |it: Option<f64>| it.map(|it| finite("fitness", it)).transpose();
        let generation = |it: v1::Generation| {
            Ok::<_, WireError>(Generation {
                individuals: number("individuals", it.individuals)?,
                measured: number("measured", it.measured)?,
                best_individual: number("best_individual", it.best_individual)?,
                best: fitness(it.best)?,
                mean: fitness(it.mean)?,
                least: fitness(it.least)?,
                sd: fitness(it.sd)?,
                distinct: number("distinct", it.distinct)?,
                mean_size: finite("mean_size", it.mean_size)?,
                mean_depth: finite("mean_depth", it.mean_depth)?,
            })
        };
        let relative = |it: v1::Relative| {
            let parents = it.parents.into_iter().map(|parent| number("parents", parent));
            let individual = Individual {
                formula: it.formula,
                simplified: it.simplified,
                size: number("size", it.size)?,
                depth: number("depth", it.depth)?,
                operator: it.operator,
                parents: parents.collect::<Result<_, WireError>>()?,
            };
            Ok::<_, WireError>(Relative {
                generation: number("generation", it.generation)?,
                index: number("index", it.index)?,
                individual,
                fitness: fitness(it.fitness)?,
            })
        };
        Ok(Self {
            generations: told.generations.into_iter().map(generation).collect::<Result<_, _>>()?,
            family: told.family.into_iter().map(relative).collect::<Result<_, _>>()?,
        })
    }
}

impl From<Estimate> for v1::CourseEstimate {
    fn from(Estimate { parameter, value, interval }: Estimate) -> Self {
        let bounds =
            |Bounds { low, high }| v1::CourseBounds { low: low.map(shown), high: high.map(shown) };
        Self { parameter, value: Some(shown(value)), interval: interval.map(bounds) }
    }
}

impl TryFrom<v1::CourseRun> for RunResult {
    type Error = WireError;

    fn try_from(told: v1::CourseRun) -> Result<Self, WireError> {
        let kind = CourseKind::named(&told.kind)
            .ok_or_else(|| WireError::new("kind", Fault::UnknownWord(told.kind.clone())))?;
        let place =
            |it: v1::CoursePlace| Ok(Place { axis: it.axis, value: read("axes", it.value)? });
        let setting = |it: v1::CourseSetting| {
            Ok(Setting { parameter: it.parameter, value: read("start", it.value)? })
        };
        Ok(Self {
            run: number("run", told.run)?,
            begun: Begun {
                kind,
                player: told.player,
                opponents: told.opponents,
                axes: told.axes.into_iter().map(place).collect::<Result<_, WireError>>()?,
                start: told.start.into_iter().map(setting).collect::<Result<_, WireError>>()?,
            },
            steps: number("steps", told.steps)?,
            estimates: told
                .estimates
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, WireError>>()?,
            confirmed: told.confirmed.map(TryInto::try_into).transpose()?,
            ended: told.ended,
            player_json: told.player_json,
            evolution: told.evolution.map(TryInto::try_into).transpose()?,
        })
    }
}

impl TryFrom<v1::CourseEstimate> for Estimate {
    type Error = WireError;

    fn try_from(told: v1::CourseEstimate) -> Result<Self, WireError> {
        let end =
            |end: Option<v1::CourseValue>| end.map(|end| read("interval", Some(end))).transpose();
        let bounds = |it: v1::CourseBounds| {
            Ok::<_, WireError>(Bounds { low: end(it.low)?, high: end(it.high)? })
        };
        Ok(Self {
            parameter: told.parameter,
            value: read("value", told.value)?,
            interval: told.interval.map(bounds).transpose()?,
        })
    }
}

fn shown(AxisValue { number, text }: AxisValue) -> v1::CourseValue {
    v1::CourseValue { number, text }
}

fn read(field: &'static str, told: Option<v1::CourseValue>) -> Result<AxisValue, WireError> {
    let told = told.ok_or_else(|| WireError::new(field, Fault::Missing))?;
    let number = told.number.map(|number| finite(field, number)).transpose()?;
    Ok(AxisValue { number, text: told.text })
}
