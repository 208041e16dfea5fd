//! A player as the file describes it, before axes have values.

use spelrum_toml::{Node, Span, Table};

/// A player as the file describes it: its parameters may name axes.
#[derive(Debug)]
pub(super) struct PlayerTemplate {
    pub(super) name: String,
    /// Its header.
    pub(super) place: Span,
    /// Its parameters, including those of the player it is `like`, without the varied ones.
    pub(super) parameters: Table,
    /// The parameters it varies.
    pub(super) varied: Vec<Varied>,
    /// The axes whose tables it uses, as references.
    pub(super) uses: Vec<Node>,
    /// Whether another player is `like` it.
    pub(super) is_model: bool,
}

/// A parameter with several values.
#[derive(Clone, Debug)]
pub(super) struct Varied {
    pub(super) key: String,
    pub(super) key_place: Span,
    /// Never empty, distinct, scalars.
    pub(super) values: Vec<Node>,
}

/// A player that a template stands for. A template without `vary` has one.
#[derive(Debug)]
pub(super) struct Variant {
    /// `ab`, or `ab(depth=3,order=true)`.
    pub(super) name: String,
    /// Its template, by its place in the file.
    pub(super) template: usize,
    /// The index of each varied parameter's value, in the template's order.
    pub(super) values: Vec<usize>,
}
