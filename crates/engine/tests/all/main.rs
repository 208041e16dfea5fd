//! The engine from outside. One test binary, so that what the tests share is compiled and linked once: every search, for
//! every game and evaluation.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod adjudication;
mod chess;
mod clocks;
mod conformance;
mod domineering;
mod expressions;
mod games;
mod genetic;
mod knowledge;
mod known_counts;
mod layers;
mod limits;
mod mcts;
mod move_values;
mod network;
mod pace;
mod pentago_values;
mod play;
mod players;
mod referee;
mod seats;
mod shared_searches;
mod solver;
mod stack;
mod tables;
mod tactics;
mod ties;
mod toy_game;
mod trees;
mod turns;
mod value_trees;
mod values;
