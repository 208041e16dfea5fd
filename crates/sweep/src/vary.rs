//! `vary` in a player: one player, a variant, for each combination of some values.

use spelrum_toml::{Entry, Fault, Node, Scalar, Tree};

use crate::axes;
use crate::limits::PLAYERS_MAX;
use crate::player_template::{PlayerTemplate, Variant, Varied};
use crate::{key, keys};

/// Longest name of a variant, in bytes.
const VARIANT_NAME_BYTES_MAX: usize = 256;

/// Reads `vary`; `owner` is the player's name.
pub(super) fn read(node: &Node, owner: &str) -> Result<Vec<Varied>, Fault> {
    let varied = |entry: &Entry| {
        let key = &entry.key;
        if key::names(keys::PLAYER).any(|reserved| reserved == key) {
            return Err(Fault::at(
                &entry.key_place,
                format!("`{key}` cannot be varied"),
                "vary parameters of the algorithm",
            ));
        }
        let label = format!("`{key}` of the player `{owner}`");
        if matches!(entry.value.tree, Tree::Scalar(_)) {
            check_value(key, &entry.value)?;
        }
        let values = axes::values(&label, key, &entry.value)?;
        values.iter().try_for_each(|value| check_value(key, value))?;
        Ok(Varied { key: key.clone(), key_place: entry.key_place.clone(), values })
    };
    node.table("`vary`", "vary = { depth = [1, 2, 3] }")?.entries.iter().map(varied).collect()
}

/// Refuses values that are not single: lists, tables, and references to axes.
fn check_value(key: &str, value: &Node) -> Result<(), Fault> {
    match &value.tree {
        Tree::Scalar(Scalar::Text(text)) if text.starts_with('$') => Err(Fault::at(
            &value.place,
            format!("`{key}` cannot vary by the axis `{text}`"),
            format!("write the values here, or write {key} = \"{text}\" in the player itself"),
        )),
        Tree::Scalar(_) => Ok(()),
        Tree::Array(_) | Tree::Table(_) => Err(Fault::at(
            &value.place,
            format!("`{key}` cannot vary by {}", value.kind()),
            format!("give numbers, texts or switches, such as {key} = [1, 2, 3]"),
        )),
    }
}

/// The variants of all templates, in the file's order, the last varied parameter running fastest.
pub(super) fn variants(templates: &[PlayerTemplate]) -> Result<Vec<Variant>, Fault> {
    let mut variants = Vec::new();
    for (index, template) in templates.iter().enumerate() {
        let sizes = template.varied.iter().map(|varied| varied.values.len());
        let count = sizes.fold(1, usize::saturating_mul);
        let players = count.saturating_add(variants.len());
        if players > PLAYERS_MAX {
            return Err(Fault::at(
                template.varied.first().map_or(&template.place, |varied| &varied.key_place),
                match count {
                    1 => format!("{players} players are too many"),
                    _ => format!("{players} players are too many: `{}` is {count}", template.name),
                },
                format!("vary fewer values, for at most {PLAYERS_MAX} players in all"),
            ));
        }
        let mut values = vec![0; template.varied.len()];
        for _ in 0..count {
            let name = name(template, &values)?;
            variants.push(Variant { name, template: index, values: values.clone() });
            for (value, varied) in values.iter_mut().zip(&template.varied).rev() {
                *value += 1;
                if *value < varied.values.len() {
                    break;
                }
                *value = 0;
            }
        }
    }
    Ok(variants)
}

fn name(template: &PlayerTemplate, values: &[usize]) -> Result<String, Fault> {
    if values.is_empty() {
        return Ok(template.name.clone());
    }
    let mut name = template.name.clone();
    for (index, (varied, &value)) in template.varied.iter().zip(values).enumerate() {
        let before = if index == 0 { "(" } else { "," };
        name += &format!("{before}{}={}", varied.key, varied.values[value]);
        if name.len() >= VARIANT_NAME_BYTES_MAX {
            return Err(Fault::at(
                &varied.values[value].place,
                format!(
                    "the players that `{}` stands for get names that are too long",
                    template.name
                ),
                format!(
                    "vary fewer parameters, for names of at most {VARIANT_NAME_BYTES_MAX} bytes"
                ),
            ));
        }
    }
    name.push(')');
    Ok(name)
}
