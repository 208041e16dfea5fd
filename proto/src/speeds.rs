//! Speeds of workers, and time limits scaled by them.

use spelrum_model::bounds::{NOISE_MAX_PERMILLE, SPEED_AGE_MAX_MS};
use spelrum_model::speed::{ScaledTime, Scaling, Speed};

use crate::limits::{NAME_BYTES_MAX, SLOTS_MAX, SPEEDS_MAX};
use crate::wire_error::{at_most, in_range, number, plain_text};
use crate::{WireError, v1};

/// A worker's measurement as a message.
#[must_use]
pub fn speed_to_wire(speed: Speed) -> v1::Speed {
    let Speed { game, nodes_per_second, noise_permille, slots, age_ms } = speed;
    v1::Speed { game, nodes_per_second, noise_permille, slots, age_ms }
}

/// Parses a worker's measurements.
///
/// # Errors
/// If there are too many, or the first that is malformed.
pub fn speeds(speeds: &[v1::Speed]) -> Result<Vec<Speed>, WireError> {
    at_most("speeds", speeds.len(), SPEEDS_MAX)?;
    let read = |(place, speed): (usize, &v1::Speed)| {
        speed_from_wire(speed).map_err(|error| error.within(format_args!("speeds[{place}]")))
    };
    speeds.iter().enumerate().map(read).collect()
}

fn speed_from_wire(speed: &v1::Speed) -> Result<Speed, WireError> {
    in_range("slots", speed.slots.into(), 1, SLOTS_MAX.into())?;
    let noise_permille = speed.noise_permille;
    in_range("noise_permille", noise_permille.into(), 0, NOISE_MAX_PERMILLE.into())?;
    Ok(Speed {
        game: plain_text("game", &speed.game, NAME_BYTES_MAX)?.to_owned(),
        nodes_per_second: in_range(
            "nodes_per_second",
            speed.nodes_per_second,
            1,
            Scaling::REFERENCE_MAX,
        )?,
        noise_permille,
        slots: speed.slots,
        age_ms: in_range("age_ms", speed.age_ms, 0, SPEED_AGE_MAX_MS)?,
    })
}

fn nodes_per_second(speed: u64) -> Result<u64, WireError> {
    in_range("nodes_per_second", number("nodes_per_second", speed)?, 1, u64::MAX)
}

/// The scaling of limits as a message.
#[must_use]
pub fn scaling_to_wire(scaling: Scaling) -> v1::TimeScale {
    let Scaling { reference, factor_max_permille } = scaling;
    v1::TimeScale { reference_nodes_per_second: reference, factor_max_permille }
}

/// Parses the scaling of limits.
///
/// # Errors
/// The first field that is malformed.
pub fn scaling(scale: v1::TimeScale) -> Result<Scaling, WireError> {
    let v1::TimeScale { reference_nodes_per_second: reference, factor_max_permille } = scale;
    in_range("factor_max_permille", factor_max_permille.into(), 1_000, u32::MAX.into())?;
    let number = number("reference_nodes_per_second", reference)?;
    let reference = in_range("reference_nodes_per_second", number, 1, u64::MAX)?;
    Ok(Scaling { reference, factor_max_permille })
}

/// The scaling of a game's limits as a message.
#[must_use]
pub fn scaled_to_wire(scaled: ScaledTime) -> v1::ScaledTime {
    let ScaledTime { factor_permille, nodes_per_second } = scaled;
    v1::ScaledTime { factor_permille, nodes_per_second }
}

/// Parses the scaling of a game's limits.
///
/// # Errors
/// The first field that is malformed.
pub fn scaled(scaled: v1::ScaledTime) -> Result<ScaledTime, WireError> {
    in_range("factor_permille", scaled.factor_permille.into(), 1, u32::MAX.into())?;
    Ok(ScaledTime {
        factor_permille: scaled.factor_permille,
        nodes_per_second: nodes_per_second(scaled.nodes_per_second)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let speed = Speed {
            game: "pentago".to_owned(),
            nodes_per_second: 2_500_000,
            noise_permille: 12,
            slots: 3,
            age_ms: 60_000,
        };
        assert_eq!(speeds(&[speed_to_wire(speed.clone())]).unwrap(), [speed]);
        let scale = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };
        assert_eq!(scaling(scaling_to_wire(scale)).unwrap(), scale);
        let time = ScaledTime { factor_permille: 1_250, nodes_per_second: 1_600_000 };
        assert_eq!(scaled(scaled_to_wire(time)).unwrap(), time);
    }

    #[test]
    fn malformed_speeds_are_refused_by_their_places() {
        let speed = v1::Speed {
            game: "pentago".to_owned(),
            nodes_per_second: 1,
            noise_permille: 0,
            slots: 1,
            age_ms: 0,
        };
        let problem = |wrong: v1::Speed| speeds(&[speed.clone(), wrong]).unwrap_err().to_string();
        let none = problem(v1::Speed { nodes_per_second: 0, ..speed.clone() });
        assert!(none.contains("speeds[1].nodes_per_second"), "{none}");
        let unnamed = problem(v1::Speed { game: String::new(), ..speed.clone() });
        assert!(unnamed.contains("speeds[1].game"), "{unnamed}");
        let old = problem(v1::Speed { age_ms: 1 << 53, ..speed.clone() });
        assert!(old.contains("speeds[1].age_ms"), "{old}");
        let noisy = problem(v1::Speed { noise_permille: u32::MAX, ..speed.clone() });
        assert!(noisy.contains("speeds[1].noise_permille"), "{noisy}");
        let fast = problem(v1::Speed { nodes_per_second: 1 << 52, ..speed.clone() });
        assert!(fast.contains("speeds[1].nodes_per_second"), "{fast}");
        let slots = problem(v1::Speed { slots: 0, ..speed.clone() });
        assert!(slots.contains("speeds[1].slots"), "{slots}");
        assert!(speeds(&vec![speed; SPEEDS_MAX + 1]).is_err());

        let bent = v1::TimeScale { reference_nodes_per_second: 5, factor_max_permille: 999 };
        assert!(scaling(bent).is_err());
        let none = v1::TimeScale { reference_nodes_per_second: 0, factor_max_permille: 1_000 };
        assert!(scaling(none).is_err());
        assert!(scaled(v1::ScaledTime { factor_permille: 0, nodes_per_second: 1 }).is_err());
        assert!(scaled(v1::ScaledTime { factor_permille: 1, nodes_per_second: 0 }).is_err());
    }
}
