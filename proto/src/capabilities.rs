//! Capabilities of engines, as workers report them.

use spelrum_model::capabilities::{
    CAPABILITIES_BYTES_MAX, CAPABILITIES_MAX, Capabilities, EngineOption, GtpCapabilities,
    GtpLimits, OptionKind,
};

use crate::wire_error::{at_most, text, unknown_word};
use crate::{Fault, WireError, v1};

/// More board sizes than are tried.
const BOARD_SIZES_MAX: usize = 100;

/// An engine's capabilities as a message.
pub(crate) fn to_wire(capabilities: &Capabilities) -> v1::EngineCapabilities {
    let Capabilities { declared, settable, gtp, is_cut } = capabilities;
    v1::EngineCapabilities {
        declares_options: declared.is_some(),
        declared: declared.iter().flatten().map(option_to_wire).collect(),
        settable: settable.iter().map(option_to_wire).collect(),
        gtp: gtp.as_ref().map(gtp_to_wire),
        is_cut: *is_cut,
    }
}

/// Parses an engine's capabilities.
///
/// # Errors
/// The first field that is malformed, or if it exceeds a bound.
pub(crate) fn from_wire(wire: &v1::EngineCapabilities) -> Result<Capabilities, WireError> {
    let options = |field: &str, options: &[v1::EngineOption]| {
        at_most(field, options.len(), CAPABILITIES_MAX)?;
        let read = |(place, option): (usize, &v1::EngineOption)| {
            option_from_wire(option).map_err(|error| error.within(format_args!("{field}[{place}]")))
        };
        options.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()
    };
    let declared = options("declared", &wire.declared)?;
    let capabilities = Capabilities {
        declared: wire.declares_options.then_some(declared),
        settable: options("settable", &wire.settable)?,
        gtp: wire.gtp.as_ref().map(gtp_from_wire).transpose()?,
        is_cut: wire.is_cut,
    };
    if capabilities.is_within_bounds() {
        Ok(capabilities)
    } else {
        let fault =
            Fault::TooLong { bytes: CAPABILITIES_BYTES_MAX + 1, max: CAPABILITIES_BYTES_MAX };
        Err(WireError::new("declared", fault))
    }
}

fn option_to_wire(EngineOption { name, kind }: &EngineOption) -> v1::EngineOption {
    let name = name.clone();
    let option = |r#type: &str, default: &str| v1::EngineOption {
        name,
        r#type: r#type.to_owned(),
        default: default.to_owned(),
        min: 0,
        max: 0,
        choices: Vec::new(),
    };
    match kind {
        OptionKind::Check { default } => option("check", default),
        OptionKind::Spin { default, min, max } => {
            v1::EngineOption { min: *min, max: *max, ..option("spin", default) }
        }
        OptionKind::Combo { default, choices } => {
            v1::EngineOption { choices: choices.clone(), ..option("combo", default) }
        }
        OptionKind::Button => option("button", ""),
        OptionKind::Text { default } => option("string", default),
    }
}

fn option_from_wire(wire: &v1::EngineOption) -> Result<EngineOption, WireError> {
    let plain = |field: &str, value: &str| {
        text(field, value, CAPABILITIES_BYTES_MAX)?;
        let is_plain = !value.chars().any(char::is_control);
        if is_plain {
            Ok(value.to_owned())
        } else {
            Err(WireError::new(field, Fault::NotPlainText))
        }
    };
    let default = plain("default", &wire.default)?;
    let kind = match wire.r#type.as_str() {
        "check" => OptionKind::Check { default },
        "spin" => OptionKind::Spin { default, min: wire.min, max: wire.max },
        "combo" => {
            at_most("choices", wire.choices.len(), CAPABILITIES_BYTES_MAX)?;
            let choices = wire.choices.iter().map(|choice| plain("choices", choice));
            OptionKind::Combo { default, choices: choices.collect::<Result<_, _>>()? }
        }
        "button" => OptionKind::Button,
        "string" => OptionKind::Text { default },
        other => return Err(WireError::new("type", unknown_word(other))),
    };
    Ok(EngineOption { name: plain("name", &wire.name)?, kind })
}

fn gtp_to_wire(gtp: &GtpCapabilities) -> v1::GtpCapabilities {
    let sizes = |taken: bool| {
        let sizes = gtp.board_sizes.iter().filter(move |(_, is_taken)| *is_taken == taken);
        sizes.map(|(size, _)| *size).collect()
    };
    let GtpLimits { depth, nodes, seconds, milliseconds, time_settings } = gtp.limits;
    v1::GtpCapabilities {
        commands: gtp.commands.clone(),
        sizes_taken: sizes(true),
        sizes_refused: sizes(false),
        depth,
        nodes,
        seconds,
        milliseconds,
        time_settings,
    }
}

fn gtp_from_wire(wire: &v1::GtpCapabilities) -> Result<GtpCapabilities, WireError> {
    at_most("commands", wire.commands.len(), CAPABILITIES_MAX)?;
    at_most("sizes_taken", wire.sizes_taken.len(), BOARD_SIZES_MAX)?;
    at_most("sizes_refused", wire.sizes_refused.len(), BOARD_SIZES_MAX)?;
    for command in &wire.commands {
        text("commands", command, CAPABILITIES_BYTES_MAX)?;
    }
    let taken = wire.sizes_taken.iter().map(|size| (*size, true));
    let refused = wire.sizes_refused.iter().map(|size| (*size, false));
    let &v1::GtpCapabilities { depth, nodes, seconds, milliseconds, time_settings, .. } = wire;
    Ok(GtpCapabilities {
        commands: wire.commands.clone(),
        board_sizes: taken.chain(refused).collect(),
        limits: GtpLimits { depth, nodes, seconds, milliseconds, time_settings },
    })
}
