//! Labels of workers' machines.

use spelrum_model::labels::{LABELS_MAX, Label};

use crate::wire_error::at_most;
use crate::{Fault, WireError, v1};

/// A label as a message.
#[must_use]
pub fn label_to_wire(label: Label) -> v1::Label {
    let Label { name, value } = label;
    v1::Label { name, value }
}

/// Parses a worker's labels, in the order of their names.
///
/// # Errors
/// If there are too many, one is repeated, or the first that is malformed.
pub fn labels(labels: &[v1::Label]) -> Result<Vec<Label>, WireError> {
    at_most("labels", labels.len(), LABELS_MAX)?;
    let read = |(place, wire): (usize, &v1::Label)| {
        let label = Label { name: wire.name.clone(), value: wire.value.clone() };
        let wrong = |_| WireError::new(format!("labels[{place}]"), Fault::NotALabel);
        label.check().map_err(wrong).map(|()| label)
    };
    let mut read = labels.iter().enumerate().map(read).collect::<Result<Vec<Label>, _>>()?;
    read.sort_unstable();
    if read.windows(2).any(|two| two[0].name == two[1].name) {
        return Err(WireError::new("labels", Fault::Repeated));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire_label(name: &str, value: &str) -> v1::Label {
        v1::Label { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn labels_round_trip() {
        let label = |text| Label::parse(text).unwrap();
        let both = [label("gpu"), label("site=lab2")];
        let wire: Vec<_> = both.iter().rev().cloned().map(label_to_wire).collect();
        assert_eq!(labels(&wire).unwrap(), both);
    }

    #[test]
    fn malformed_labels_are_refused() {
        let long = "x".repeat(64);
        for (name, value) in
            [("", "a"), ("a b", ""), ("a", "\n"), ("a", "b=c"), (&*long, ""), ("a", &long)]
        {
            let error =
                labels(&[wire_label("fine", ""), wire_label(name, value)]).unwrap_err().to_string();
            assert!(error.contains("labels[1]"), "{error}");
        }
        assert!(
            labels(&[wire_label("a", "1"), wire_label("b", ""), wire_label("a", "2")]).is_err()
        );
        let labels_too_many: Vec<_> =
            (0..=LABELS_MAX).map(|index| wire_label(&format!("l{index}"), "")).collect();
        assert!(labels(&labels_too_many).is_err() && labels(&labels_too_many[1..]).is_ok());
    }
}
