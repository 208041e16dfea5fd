//! Networks that learn the distance to mate from an [endgame's table](crate::tables), and then replace it as
//! a static evaluation.
//!
//! A [`Recipe`] is made of parameters and determines everything; [`train`] makes a [`Network`] of it and the
//! table, bit for bit the same on every machine. A player with the evaluation `network` names the recipe
//! ([`NetworkEvaluation`]), and the network is trained in the process that plays, unless it was trained
//! elsewhere and is [supplied](SuppliedNetwork).
//!
//! ```
//! use spelrum_engine::network::{Recipe, train};
//! use spelrum_engine::tables::EndgameTable;
//! use spelrum_engine::{Timeless, Value};
//!
//! let given = [
//!     ("ending", Value::Text("KRK".into())),
//!     ("inputs", Value::Text("one-hot".into())),
//!     ("epochs", Value::Integer(8)),
//! ];
//! let recipe = Recipe::from_parameters(&given.map(|(key, value)| (key.to_owned(), value)).into())?;
//! let table = EndgameTable::make(recipe.endgame(), |_| {});
//! let trained = train(&recipe, &table, &Timeless, |_| {})?;
//! assert!(trained.runs[0].validation_error < trained.runs[0].constant_error / 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is learnt
//!
//! For positions that white wins, a number that grows as mate comes nearer: `target_start` minus the plies to
//! mate, divided by `target_over`, at least 0. Draws are included only if a recipe says so: a search
//! recognises most of them by captures. Training is plain stochastic gradient descent in 32-bit floats, whose
//! sums have a fixed order (`lanes.rs`).

mod bytes;
mod dense;
mod errors;
mod evaluation;
mod examples;
mod inputs;
mod lanes;
mod model;
mod order;
mod recipe;
mod shared;
mod squares;
mod train;
mod train_error;
#[cfg(test)]
mod twin;

pub use bytes::NetworkBytesError;
pub use errors::{DistanceErrors, SideErrors, SquareErrors};
pub(crate) use evaluation::memory_bytes;
pub use evaluation::{NetworkEvaluation, prepare, recipe_of};
pub use model::Network;
pub use recipe::Recipe;
pub use shared::{SuppliedNetwork, SupplyError};
pub use train::{Epoch, Run, Trained, train};
pub use train_error::TrainError;
