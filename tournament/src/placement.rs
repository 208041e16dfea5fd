//! What a sweep says of the workers that play it. No part of a cell's definition: it changes who plays, never what.

use serde::{Deserialize, Serialize};

use crate::demands::Demands;
use crate::engines::NeededEngine;
use crate::labels::WantedLabel;

/// Which workers play a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// Labels that a worker must have, each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<WantedLabel>,
    /// Labels for whose sake a worker gets this sweep's games sooner than others of the same priority, if it has all
    /// of them, and later if not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<WantedLabel>,
}

impl Placement {
    /// What the games of a cell ask of their worker that need these engines.
    #[must_use]
    pub fn demands(&self, engines: Vec<NeededEngine>) -> Demands {
        Demands { engines, require: self.require.clone(), prefer: self.prefer.clone() }
    }

    /// The same as a store keeps it; `None` if it says nothing.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let is_nothing = *self == Self::default();
        // A text cannot fail to be written.
        (!is_nothing).then(|| serde_json::to_string(self).unwrap_or_default())
    }

    /// As it was kept. What no release of today can read is nothing.
    #[must_use]
    pub fn from_json(json: Option<&str>) -> Self {
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }
}
