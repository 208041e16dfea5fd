use spelrum_engine::evaluation::NoEvaluation;
use spelrum_engine::games::{ConnectFour, Nim, Pentago, TicTacToe};
use spelrum_engine::tree::{Join, TreeAlgorithm, TreeOptions, WinScore, count_plies, grow};
use spelrum_engine::{Game, Rules};

use super::layout::places;
use super::picture::{BranchKind, Picture};
use super::{Heading, WinNotation, drawn_nodes};

/// Pictures of small trees of every game, in every format.
fn pictures() -> Vec<Picture> {
    fn add_pictures<P: Game>(rules: &Rules, depth: Option<u32>, pictures: &mut Vec<Picture>) {
        let root = P::start(rules).unwrap();
        for algorithm in
            [TreeAlgorithm::Minimax, TreeAlgorithm::AlphaBeta, TreeAlgorithm::OneBoundMisprint]
        {
            for join in [Join::None, Join::Equal, Join::Symmetric] {
                let options = TreeOptions { algorithm, join, depth, ..TreeOptions::default() };
                let tree = grow(&root, &NoEvaluation, &options).unwrap();
                let words = WinNotation::for_tree(&tree, WinScore::Equal);
                let heading = Heading { title: String::new(), sides: String::new() };
                let full_counts = count_plies(&root, depth, 1_000);
                let picture = Picture::new(&tree, words, heading, &full_counts);
                assert_eq!(picture.nodes.len(), drawn_nodes(&tree));
                pictures.push(picture);
            }
        }
    }
    let mut pictures = Vec::new();
    add_pictures::<TicTacToe>(&TicTacToe::rules(), Some(2), &mut pictures);
    add_pictures::<ConnectFour>(&Rules::usual::<ConnectFour>(), Some(3), &mut pictures);
    add_pictures::<Pentago>(&Rules::usual::<Pentago>(), Some(1), &mut pictures);
    add_pictures::<Nim>(&Nim::rules(&[3, 2], true).unwrap(), None, &mut pictures);
    add_pictures::<Nim>(&Nim::rules(&[1], true).unwrap(), None, &mut pictures);
    pictures
}

#[test]
fn nothing_stands_on_anything_else() {
    for picture in pictures() {
        let middles = places(&picture, 10.0);
        for ply in 0..picture.levels.len() {
            let nodes = picture.nodes.iter().zip(&middles).filter(|(node, _)| node.ply == ply);
            let mut of_ply: Vec<f64> = nodes.map(|(_, middle)| *middle).collect();
            of_ply.sort_by(f64::total_cmp);
            assert!(of_ply.windows(2).all(|pair| pair[1] - pair[0] > 9.999), "{of_ply:?}");
            assert!(of_ply.iter().all(|middle| *middle > -0.001), "{of_ply:?}");
        }
    }
}

#[test]
fn parents_stand_above_the_middle_of_their_children() {
    for picture in pictures() {
        let middles = places(&picture, 10.0);
        for (node, middle) in picture.nodes.iter().zip(&middles) {
            let branches = node.branches.iter().filter(|branch| branch.kind != BranchKind::Joined);
            let children: Vec<f64> = branches.map(|branch| middles[branch.child]).collect();
            assert!(children.is_sorted(), "in the order in which they are tried");
            if let (Some(first), Some(last)) = (children.first(), children.last()) {
                assert!(((first + last) / 2.0 - middle).abs() < 0.001, "{children:?}, {middle}");
            }
        }
    }
}

/// Every node hangs from one branch that is not joined, a ply below.
#[test]
fn every_node_is_drawn_once() {
    for picture in pictures() {
        let mut parents = vec![0; picture.nodes.len()];
        for node in &picture.nodes {
            for branch in &node.branches {
                assert_eq!(picture.nodes[branch.child].ply, node.ply + 1);
                parents[branch.child] += usize::from(branch.kind != BranchKind::Joined);
            }
        }
        assert_eq!(parents[0], 0);
        assert!(parents[1..].iter().all(|count| *count == 1), "{parents:?}");
    }
}
