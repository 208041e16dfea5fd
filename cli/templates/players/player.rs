//! A player of any game over the protocol of lines (docs/lines.md), without crates: rustc -O PLAYER.rs

use std::io::{self, BufRead as _, Write as _};

/// The move to make: one of the legal ones. `value_of(request, "position")` begins with the position in quotes.
/// Random numbers that follow from the seed repeat on any machine.
fn choose<'a>(legal: &[&'a str], seed: u64, _request: &str) -> &'a str {
    // SplitMix64, which spreads the seed over all bits.
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    legal[((bits ^ (bits >> 31)) % legal.len() as u64) as usize]
}

/// What follows a key and its colon. A quote within a JSON text is written \", so no text looks like a key.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let quoted = format!("\"{key}\"");
    line.match_indices(&quoted).find_map(|(at, _)| {
        let value = line[at + quoted.len()..].trim_start().strip_prefix(':')?;
        Some(value.trim_start())
    })
}

/// The texts of a list such as `["a","b"]`.
fn texts_of(list: &str) -> Vec<&str> {
    let list = list.split(']').next().unwrap_or("");
    list.split('"').skip(1).step_by(2).collect()
}

fn number_of(line: &str, key: &str) -> Option<u64> {
    let value = value_of(line, key)?;
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if value_of(&line, "spelrum").is_some() {
            writeln!(output, r#"{{"name":"PLAYER","version":"1"}}"#)?;
        } else if let (Some(id), Some(legal)) = (number_of(&line, "id"), value_of(&line, "legal")) {
            let mv = choose(&texts_of(legal), number_of(&line, "seed").unwrap_or(0), &line);
            writeln!(output, r#"{{"id":{id},"move":"{mv}"}}"#)?;
        }
        output.flush()?;
    }
    Ok(())
}
