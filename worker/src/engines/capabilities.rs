//! Capabilities of this machine's engines, as they report them at their start.

use spelrum_engine::{Rules, with_game};
use spelrum_external::uci::{Declared, Kind};
use spelrum_external::{AllowedOption, Engine, EngineSpec, OptionRule, OptionValue, Protocol};
use spelrum_model::capabilities::{
    Capabilities, EngineOption, GtpCapabilities, GtpLimits, OptionKind,
};

/// The protocol's own command for time.
const TIME_SETTINGS: &str = "time_settings";

/// Asks an engine for its capabilities between games.
pub fn capabilities(engine: &mut Engine, aborted: &dyn Fn() -> bool) -> Capabilities {
    let declared = engine.declared().map(|options| options.iter().map(declared_option).collect());
    let settable = engine.spec().options.iter().map(settable_option).collect();
    let gtp = (engine.spec().protocol == Protocol::Gtp).then(|| {
        let commands: Vec<String> = engine.commands().map(str::to_owned).collect();
        let limits = limits(engine.spec(), &commands);
        let sizes = board_sizes().into_iter().map_while(|size| {
            // An engine that ends over this may still play on its own board size.
            Some((size, engine.takes_board(size, aborted).ok()??))
        });
        GtpCapabilities { board_sizes: sizes.collect(), commands, limits }
    });
    Capabilities { declared, settable, gtp, is_cut: false }.within_bounds()
}

/// The sizes of all boards that engines get over GTP.
fn board_sizes() -> Vec<u32> {
    let games = with_game!(each G => Rules::usual::<G>());
    let mut sizes: Vec<u32> =
        games.iter().filter_map(|rules| Some(rules.game().gtp_board?.size)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn limits(spec: &EngineSpec, commands: &[String]) -> GtpLimits {
    let says = |name: &str| spec.gtp.limits.iter().any(|line| line.contains(name));
    GtpLimits {
        depth: says("{depth}"),
        nodes: says("{nodes}"),
        seconds: says("{seconds}"),
        milliseconds: says("{milliseconds}"),
        time_settings: commands.is_empty()
            || commands.iter().any(|command| command == TIME_SETTINGS),
    }
}

fn declared_option(Declared { name, kind }: &Declared) -> EngineOption {
    let kind = match kind {
        Kind::Check { default } => OptionKind::Check { default: default.to_string() },
        Kind::Spin { default, min, max } => {
            OptionKind::Spin { default: default.to_string(), min: *min, max: *max }
        }
        Kind::Combo { default, choices } => OptionKind::Combo {
            default: shown(default),
            choices: choices.iter().map(|choice| shown(choice)).collect(),
        },
        Kind::Button => OptionKind::Button,
        Kind::Text { default } => OptionKind::Text { default: shown(default) },
    };
    EngineOption { name: shown(name), kind }
}

fn settable_option(AllowedOption { name, rule, .. }: &AllowedOption) -> EngineOption {
    let default = String::new();
    let kind = match rule {
        OptionRule::Between { min, max } => OptionKind::Spin { default, min: *min, max: *max },
        OptionRule::OneOf(values) => OptionKind::Combo {
            default,
            choices: values.iter().map(OptionValue::to_string).collect(),
        },
        OptionRule::Press => OptionKind::Button,
    };
    EngineOption { name: name.clone(), kind }
}

/// Cleans a text from an engine, which may contain anything.
fn shown(text: &str) -> String {
    spelrum_external::text::shown(text, usize::MAX)
}
