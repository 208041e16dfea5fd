//! The text format of Prometheus (version 0.0.4), read strictly: what a scraper might forgive is refused.

use std::collections::{BTreeMap, BTreeSet};

/// What stands between the braces.
pub(crate) type Labels = BTreeMap<String, String>;

/// A page.
#[derive(Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) families: BTreeMap<String, Family>,
    /// How many lines it has.
    pub(crate) lines: usize,
}

/// All that is told under one name.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    pub(crate) help: String,
    pub(crate) kind: String,
    /// Each with the name that it has itself.
    pub(crate) samples: Vec<(String, Labels, f64)>,
}

impl Page {
    /// Reads a page.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut families = BTreeMap::<String, Family>::new();
        let mut open: Option<String> = None;
        let mut help: Option<(String, String)> = None;
        let Some(text) = text.strip_suffix('\n') else {
            return Err("the last line has no end".to_owned());
        };
        for line in text.split('\n') {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, description) = rest.split_once(' ').ok_or("a help without a text")?;
                help = Some((name.to_owned(), description.to_owned()));
                open = None;
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').ok_or("a type without a name")?;
                if !is_name(name, true) || !["counter", "gauge", "histogram"].contains(&kind) {
                    return Err(format!("{line:?} is not a type"));
                }
                let (helped, help) = help.take().ok_or_else(|| format!("{name} has no help"))?;
                if helped != name {
                    return Err(format!("the help of {helped} is before the type of {name}"));
                }
                let family = Family { help, kind: kind.to_owned(), samples: Vec::new() };
                if families.insert(name.to_owned(), family).is_some() {
                    return Err(format!("{name} comes twice"));
                }
                open = Some(name.to_owned());
            } else {
                let name = open.clone().ok_or_else(|| format!("{line:?} is of nothing"))?;
                let family = families.get_mut(&name).ok_or("a family")?;
                let sample = sample(line)?;
                let suffixes: &[&str] = match &*family.kind {
                    "histogram" => &["_bucket", "_sum", "_count"],
                    _ => &[""],
                };
                if !suffixes.iter().any(|suffix| sample.0 == format!("{name}{suffix}")) {
                    return Err(format!("{line:?} is not of the {} {name}", family.kind));
                }
                family.samples.push(sample);
            }
        }
        let page = Self { families, lines: text.split('\n').count() };
        page.families.iter().try_for_each(|(name, family)| family.check(name))?;
        Ok(page)
    }

    /// The number with this name and these labels.
    pub(crate) fn number(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels: Labels =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut samples = self.families.values().flat_map(|family| &family.samples);
        samples
            .find(|(its_name, its_labels, _)| its_name == name && *its_labels == labels)
            .map_or(f64::NAN, |&(_, _, number)| number)
    }

    /// Every set of labels with its name, without the numbers.
    pub(crate) fn series(&self) -> BTreeSet<(String, Labels)> {
        let samples = self.families.values().flat_map(|family| &family.samples);
        samples.map(|(name, labels, _)| (name.clone(), labels.clone())).collect()
    }
}

impl Family {
    fn check(&self, name: &str) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for (its_name, labels, number) in &self.samples {
            if !seen.insert((its_name, labels)) {
                return Err(format!("{its_name}{labels:?} comes twice"));
            }
            let is_counted = self.kind != "gauge";
            if is_counted && !(*number >= 0.0 && number.is_finite()) {
                return Err(format!("{its_name}{labels:?} is {number}"));
            }
        }
        if self.samples.is_empty() || self.help.is_empty() {
            return Err(format!("{name} says nothing"));
        }
        if self.kind == "histogram" { self.check_histogram(name) } else { Ok(()) }
    }

    /// Buckets come in order, each has those before it, and the last has all.
    fn check_histogram(&self, name: &str) -> Result<(), String> {
        let mut buckets = BTreeMap::<Labels, Vec<(f64, f64)>>::new();
        let mut counts = BTreeMap::new();
        let mut sums = BTreeSet::new();
        for (its_name, labels, number) in &self.samples {
            let mut labels = labels.clone();
            if *its_name == format!("{name}_bucket") {
                let bound = labels.remove("le").ok_or("a bucket without a bound")?;
                let bound = if bound == "+Inf" {
                    f64::INFINITY
                } else {
                    bound.parse().map_err(|_| format!("{bound:?} is not a bound"))?
                };
                buckets.entry(labels).or_default().push((bound, *number));
            } else if *its_name == format!("{name}_count") {
                counts.insert(labels, *number);
            } else {
                sums.insert(labels);
            }
        }
        if !(buckets.keys().eq(counts.keys()) && buckets.keys().eq(&sums)) {
            return Err(format!("{name} has not the same parts everywhere"));
        }
        for (labels, buckets) in &buckets {
            let is_cumulative = buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1);
            let last = buckets.last().copied().unwrap_or_default();
            if !is_cumulative || last != (f64::INFINITY, counts[labels]) {
                return Err(format!("the buckets of {name}{labels:?} are {buckets:?}"));
            }
        }
        Ok(())
    }
}

fn is_name(name: &str, of_a_metric: bool) -> bool {
    let is_of_names = |c: char| c.is_ascii_alphanumeric() || c == '_' || (of_a_metric && c == ':');
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(is_of_names)
}

/// `name{label="value",…} number`.
fn sample(line: &str) -> Result<(String, Labels, f64), String> {
    let problem = || format!("{line:?} is not a sample");
    let end = line.find(['{', ' ']).ok_or_else(problem)?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or_else(problem)?;
            let (value, after) = quoted(after).ok_or_else(problem)?;
            if !is_name(label, false) || labels.insert(label.to_owned(), value).is_some() {
                return Err(problem());
            }
            if let Some(after) = after.strip_prefix('}') {
                rest = after;
                break;
            }
            rest = after.strip_prefix(',').ok_or_else(problem)?;
        }
    }
    let number = rest.strip_prefix(' ').ok_or_else(problem)?;
    let number = number.parse().map_err(|_| problem())?;
    if is_name(name, true) { Ok((name.to_owned(), labels, number)) } else { Err(problem()) }
}

/// A value up to its closing quote, and what is after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}

#[test]
fn what_is_wrong_is_refused() {
    let good = "# HELP a What.\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\n\
                a_sum 3\na_count 2\n# HELP b Two.\n# TYPE b counter\nb{c=\"d\\\"\\n\",e=\"\"} 0.5\n";
    let page = Page::read(good).unwrap();
    assert_eq!(page.number("b", &[("c", "d\"\n"), ("e", "")]).to_bits(), 0.5_f64.to_bits());
    for (before, after) in [
        ("a_bucket{le=\"1\"} 1", "a_bucket{le=\"1\"} 3"),
        ("a_count 2", "a_count 3"),
        ("a_sum 3\n", ""),
        ("# HELP b Two.\n", ""),
        ("# TYPE b counter\n", ""),
        ("# TYPE b", "# TYPE a"),
        ("b{c", "c{c"),
        ("e=\"\"", "c=\"\""),
        ("e=\"\"", "e=\"\"\""),
        ("0.5\n", "0.5"),
        ("0.5", "-1"),
        ("0.5", "five"),
        ("0.5\n", "0.5\n\n"),
        ("d\\\"", "d\\x"),
    ] {
        let bad = good.replacen(before, after, 1);
        assert_ne!(bad, good);
        assert!(Page::read(&bad).is_err(), "{bad}");
    }
}
