//! Lists of hardware threads, as the kernel writes them: `0-3,8,10-11`.

use std::collections::BTreeSet;

/// The greatest valid number: the system's usual mask has room for no more, so no thread could be pinned
/// beyond.
pub(super) const CPU_MAX: u32 = 1_023;

/// Parses a list; `None` if it is malformed.
pub(super) fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let text = text.trim();
    let mut cpus = BTreeSet::new();
    if text.is_empty() {
        return Some(cpus);
    }
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > CPU_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Writes a list, for people and for the playing process.
pub(super) fn text(cpus: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            Some(_) | None => ranges.push((cpu, cpu)),
        }
    }
    let written = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(written).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for (text_, cpus) in [
            ("", vec![]),
            ("0", vec![0]),
            ("0-1", vec![0, 1]),
            ("0,2-3,7", vec![0, 2, 3, 7]),
            ("1023", vec![1023]),
        ] {
            let cpus: BTreeSet<u32> = cpus.into_iter().collect();
            assert_eq!(parse(text_), Some(cpus.clone()), "{text_:?}");
            assert_eq!(text(&cpus), text_);
        }
        assert_eq!(parse(" 3-4\n").map(|cpus| cpus.len()), Some(2));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for text in [
            "a",
            "1-",
            "-1",
            "3-1",
            ",",
            "0,,1",
            "1024",
            "0-4294967295",
            "99999999999",
            "0x3",
            "0-1-2",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
