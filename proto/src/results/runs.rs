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
    fn from(result: RunResult) -> Self {
        let RunResult { run, begun, steps, estimates, confirmed, ended, player_json, evolution } =
            result;
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

    fn try_from(score: v1::CourseScore) -> Result<Self, WireError> {
        Ok(Self {
            games: number("games", score.games)?,
            score: finite("score", score.score)?,
            low: finite("low", score.low)?,
            high: finite("high", score.high)?,
        })
    }
}

impl TryFrom<v1::CourseConfirmation> for Confirmed {
    type Error = WireError;

    fn try_from(confirmation: v1::CourseConfirmation) -> Result<Self, WireError> {
        let found = confirmation.found.ok_or_else(|| WireError::new("found", Fault::Missing))?;
        Ok(Self {
            found: found.try_into()?,
            start: confirmation.start.map(TryInto::try_into).transpose()?,
        })
    }
}

impl From<Evolution> for v1::Evolution {
    fn from(Evolution { generations, family }: Evolution) -> Self {
        let generation = |generation: Generation| v1::Generation {
            individuals: generation.individuals,
            measured: generation.measured,
            best_individual: generation.best_individual,
            best: generation.best,
            mean: generation.mean,
            least: generation.least,
            sd: generation.sd,
            distinct: generation.distinct,
            mean_size: generation.mean_size,
            mean_depth: generation.mean_depth,
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

    fn try_from(evolution: v1::Evolution) -> Result<Self, WireError> {
        let fitness = |value: Option<f64>| value.map(|value| finite("fitness", value)).transpose();
        let generation = |generation: v1::Generation| {
            Ok::<_, WireError>(Generation {
                individuals: number("individuals", generation.individuals)?,
                measured: number("measured", generation.measured)?,
                best_individual: number("best_individual", generation.best_individual)?,
                best: fitness(generation.best)?,
                mean: fitness(generation.mean)?,
                least: fitness(generation.least)?,
                sd: fitness(generation.sd)?,
                distinct: number("distinct", generation.distinct)?,
                mean_size: finite("mean_size", generation.mean_size)?,
                mean_depth: finite("mean_depth", generation.mean_depth)?,
            })
        };
        let relative = |relative: v1::Relative| {
            let parents = relative.parents.into_iter().map(|parent| number("parents", parent));
            let individual = Individual {
                formula: relative.formula,
                simplified: relative.simplified,
                size: number("size", relative.size)?,
                depth: number("depth", relative.depth)?,
                operator: relative.operator,
                parents: parents.collect::<Result<_, WireError>>()?,
            };
            Ok::<_, WireError>(Relative {
                generation: number("generation", relative.generation)?,
                index: number("index", relative.index)?,
                individual,
                fitness: fitness(relative.fitness)?,
            })
        };
        Ok(Self {
            generations: evolution
                .generations
                .into_iter()
                .map(generation)
                .collect::<Result<_, _>>()?,
            family: evolution.family.into_iter().map(relative).collect::<Result<_, _>>()?,
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

    fn try_from(run: v1::CourseRun) -> Result<Self, WireError> {
        let kind = CourseKind::named(&run.kind)
            .ok_or_else(|| WireError::new("kind", Fault::UnknownWord(run.kind.clone())))?;
        let place = |place: v1::CoursePlace| {
            Ok(Place { axis: place.axis, value: read("axes", place.value)? })
        };
        let setting = |setting: v1::CourseSetting| {
            Ok(Setting { parameter: setting.parameter, value: read("start", setting.value)? })
        };
        Ok(Self {
            run: number("run", run.run)?,
            begun: Begun {
                kind,
                player: run.player,
                opponents: run.opponents,
                axes: run.axes.into_iter().map(place).collect::<Result<_, WireError>>()?,
                start: run.start.into_iter().map(setting).collect::<Result<_, WireError>>()?,
            },
            steps: number("steps", run.steps)?,
            estimates: run
                .estimates
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, WireError>>()?,
            confirmed: run.confirmed.map(TryInto::try_into).transpose()?,
            ended: run.ended,
            player_json: run.player_json,
            evolution: run.evolution.map(TryInto::try_into).transpose()?,
        })
    }
}

impl TryFrom<v1::CourseEstimate> for Estimate {
    type Error = WireError;

    fn try_from(estimate: v1::CourseEstimate) -> Result<Self, WireError> {
        let end =
            |end: Option<v1::CourseValue>| end.map(|end| read("interval", Some(end))).transpose();
        let bounds = |bounds: v1::CourseBounds| {
            Ok::<_, WireError>(Bounds { low: end(bounds.low)?, high: end(bounds.high)? })
        };
        Ok(Self {
            parameter: estimate.parameter,
            value: read("value", estimate.value)?,
            interval: estimate.interval.map(bounds).transpose()?,
        })
    }
}

fn shown(AxisValue { number, text }: AxisValue) -> v1::CourseValue {
    v1::CourseValue { number, text }
}

fn read(field: &'static str, value: Option<v1::CourseValue>) -> Result<AxisValue, WireError> {
    let value = value.ok_or_else(|| WireError::new(field, Fault::Missing))?;
    let number = value.number.map(|number| finite(field, number)).transpose()?;
    Ok(AxisValue { number, text: value.text })
}
