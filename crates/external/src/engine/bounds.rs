//! Limits for a GTP engine: by its own commands, or in whole seconds.

use std::time::Duration;

use crate::failure::FailureKind;
use crate::gtp::Dialect;
use crate::situation::Conditions;

/// The protocol's command for time.
const TIME_SETTINGS: &str = "time_settings";
const BOARDSIZE: &str = "boardsize";

/// A command that limits moves for this game and all later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Its subject, whatever the value: the command without it.
    pub(super) subject: String,
    /// The command line.
    pub(super) command: String,
}

impl Bound {
    /// Whether the engine may ignore it: lists of commands are not always true.
    pub(super) fn may_be_refused(&self) -> bool {
        self.subject == TIME_SETTINGS
    }

    pub(super) fn from_board_size(size: u32) -> Self {
        Self { subject: BOARDSIZE.to_owned(), command: format!("{BOARDSIZE} {size}") }
    }

    pub(super) fn is_board_size(&self) -> bool {
        self.subject == BOARDSIZE
    }
}

/// The commands that set a game's limits.
///
/// # Errors
/// If there is no command for one: it would not apply, and the game would not be the requested one.
pub(super) fn list_bounds(
    dialect: &Dialect,
    conditions: &Conditions,
    knows: impl Fn(&str) -> bool,
) -> Result<Vec<Bound>, FailureKind> {
    let limits = &conditions.limits;
    let in_ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let values = [
        ("{depth}", limits.depth.map(u64::from)),
        ("{nodes}", limits.nodes),
        // Rounding down keeps the limit; zero would mean something else.
        ("{seconds}", limits.move_time.map(|time| time.as_secs()).filter(|time| *time > 0)),
        ("{milliseconds}", limits.move_time.map(in_ms).filter(|time| *time > 0)),
    ];
    let fill = |line: &String| {
        let command = values.iter().try_fold(line.clone(), |command, (name, value)| {
            if !command.contains(name) {
                return Some(command);
            }
            value.map(|value| command.replace(name, &value.to_string()))
        })?;
        Some(Bound { subject: line.clone(), command })
    };
    let mut bounds: Vec<_> = dialect.limits.iter().filter_map(fill).collect();
    let says = |name: &str| bounds.iter().any(|bound| bound.subject.contains(name));
    for (limit, name, is_set) in [
        ("a depth", "{depth}", limits.depth.is_some()),
        ("a number of nodes", "{nodes}", limits.nodes.is_some()),
    ] {
        if is_set && !says(name) {
            return Err(no_command(limit, &format!("no line of `gtp.limits` has `{name}`")));
        }
    }
    let is_time_set = says("{seconds}") || says("{milliseconds}");
    let time = limits.move_time.filter(|_| !is_time_set);
    bounds.extend(time_settings(conditions.clock.map(|clock| clock.time), time, knows)?);
    Ok(bounds)
}

/// The protocol's time settings: for the game, or for each move as a period of one. They have whole
/// seconds and no increment.
fn time_settings(
    clock: Option<Duration>,
    each_move: Option<Duration>,
    knows: impl Fn(&str) -> bool,
) -> Result<Option<Bound>, FailureKind> {
    let (time, in_order) = match (clock, each_move) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let problem = "no line of `gtp.limits` has `{seconds}` or `{milliseconds}`";
            return Err(no_command("a time for each move beside a clock", problem));
        }
        (Some(time), None) => (time, ["", " 0 0"]),
        (None, Some(time)) => (time, ["0 ", " 1"]),
    };
    if !knows(TIME_SETTINGS) {
        return Err(no_time_command());
    }
    if time.as_secs() == 0 {
        let problem = "no line of `gtp.limits` has `{milliseconds}`, and GTP has whole seconds";
        return Err(no_command("a time of less than a second", problem));
    }
    let [before, behind] = in_order;
    let command = format!("{TIME_SETTINGS} {before}{}{behind}", time.as_secs());
    Ok(Some(Bound { subject: TIME_SETTINGS.to_owned(), command }))
}

/// The error that an engine has no command for a time.
pub(super) fn no_time_command() -> FailureKind {
    no_command(
        "a time",
        "it does not know `time_settings`, and `gtp.limits` has no line that says it",
    )
}

fn no_command(limit: &str, problem: &str) -> FailureKind {
    FailureKind::Unsupported(format!("it has no command for {limit}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::situation::{Limits, Remaining};

    fn commands_for(
        lines: &[&str],
        limits: Limits,
        clock: Option<u64>,
    ) -> Result<Vec<String>, String> {
        let limits_lines = lines.iter().map(ToString::to_string).collect();
        let dialect = Dialect { limits: limits_lines, ..Dialect::default() };
        let clock = clock
            .map(|ms| Remaining { time: Duration::from_millis(ms), increment: Duration::ZERO });
        let conditions = Conditions { limits, clock, ..Conditions::default() };
        list_bounds(&dialect, &conditions, |_| true)
            .map(|bounds| bounds.into_iter().map(|bound| bound.command).collect())
            .map_err(|failure| failure.to_string())
    }

    fn time(ms: u64) -> Limits {
        Limits { move_time: Some(Duration::from_millis(ms)), ..Limits::default() }
    }

    fn commands<const N: usize>(commands: [&str; N]) -> Result<Vec<String>, String> {
        Ok(commands.map(str::to_owned).into())
    }

    #[test]
    fn limits_are_set_by_the_engines_own_commands() {
        let lines =
            ["time -m {seconds} -g 0", "nodes {nodes}", "level {depth} {nodes}", "ponder off"];
        assert_eq!(
            commands_for(&lines, time(2_700), None),
            commands(["time -m 2 -g 0", "ponder off"])
        );
        let nodes = Limits { nodes: Some(9), depth: Some(3), ..Limits::default() };
        assert_eq!(
            commands_for(&lines, nodes, None),
            commands(["nodes 9", "level 3 9", "ponder off"])
        );
        let both = ["time {seconds}", "ms {milliseconds}"];
        assert_eq!(commands_for(&both, time(100), None), commands(["ms 100"]));
    }

    #[test]
    fn time_is_set_in_whole_seconds() {
        assert_eq!(commands_for(&[], Limits::default(), None), commands([]));
        assert_eq!(commands_for(&[], time(1_900), None), commands(["time_settings 0 1 1"]));
        let clock = Some(90_000);
        assert_eq!(commands_for(&[], Limits::default(), clock), commands(["time_settings 90 0 0"]));
        let lines = ["time {milliseconds}"];
        assert_eq!(
            commands_for(&lines, time(50), clock),
            commands(["time 50", "time_settings 90 0 0"])
        );
    }

    #[test]
    fn a_limit_without_a_command_is_refused() {
        let depth = Limits { depth: Some(5), ..Limits::default() };
        let nodes = Limits { nodes: Some(5), ..Limits::default() };
        for (lines, limits, clock, problem) in [
            (&[][..], depth, None, "a depth: no line of `gtp.limits` has `{depth}`"),
            // Its line also has a limit that is not set.
            (
                &["level {depth} {nodes}"],
                depth,
                None,
                "a depth: no line of `gtp.limits` has `{depth}`",
            ),
            (&[], nodes, None, "a number of nodes: no line of `gtp.limits` has `{nodes}`"),
            (
                &["time {seconds}"],
                time(100),
                None,
                "a time of less than a second: no line of `gtp.limits` has `{milliseconds}`, and \
                 GTP has whole seconds",
            ),
            (
                &[],
                Limits::default(),
                Some(999),
                "a time of less than a second: no line of `gtp.limits` has `{milliseconds}`, and \
                 GTP has whole seconds",
            ),
            (
                &[],
                time(5_000),
                Some(90_000),
                "a time for each move beside a clock: no line of `gtp.limits` has `{seconds}` or \
                 `{milliseconds}`",
            ),
        ] {
            let expected = format!("it has no command for {problem}");
            assert_eq!(commands_for(lines, limits, clock), Err(expected), "{lines:?}");
        }
        let limits = time(5_000);
        let conditions = Conditions { limits, ..Conditions::default() };
        let ignorant = list_bounds(&Dialect::default(), &conditions, |_| false);
        assert_eq!(ignorant, Err(no_time_command()));
        assert_eq!(
            no_time_command().to_string(),
            "it has no command for a time: it does not know `time_settings`, and `gtp.limits` has no \
             line that says it"
        );
    }
}
