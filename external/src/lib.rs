//! Programs of others as players, over UCI and GTP: what is said.
//!
//! The crate knows neither sweeps nor rules. [`uci`] and [`gtp`] are readers, writers and state machines:
//! lines go in, and what they mean comes out, without a process or a clock. They take what engines really
//! say: white space anywhere, either line end, lines of megabytes, prints in between. What the protocol
//! does not allow and can be lived with is a [`Breach`], which is told once for each kind.

mod breach;
pub mod gtp;
mod situation;
pub mod text;
pub mod uci;

pub use breach::{Breach, BreachKind, Breaches};
pub use situation::{Choice, Clock, Colour, Conditions, Limits, Remaining, Situation, Start};
