//! Horizontal positions of a tree's nodes.
//!
//! After Reingold & Tilford 1981, "Tidier drawings of trees": subtrees are placed as near to each other as their
//! outlines allow, and each parent above the middle of its children.

use super::picture::{BranchKind, Picture};

/// Returns the middle of each node, from 0 on, with nodes of one ply at least `distance` apart. Joined nodes stand
/// below the first parent.
pub(super) fn places(picture: &Picture, distance: f64) -> Vec<f64> {
    let mut placer = Placer { picture, distance, from_parent: vec![0.0; picture.nodes.len()] };
    let outline = placer.place(0);
    let leftmost = outline.iter().fold(0.0_f64, |least, [left, _]| least.min(*left));
    let mut places = vec![0.0; picture.nodes.len()];
    let mut waiting = vec![(0, -leftmost)];
    while let Some((node, middle)) = waiting.pop() {
        places[node] = middle;
        waiting.extend(
            own_children(picture, node).map(|child| (child, middle + placer.from_parent[child])),
        );
    }
    places
}

/// Returns the nodes drawn below this node.
fn own_children(picture: &Picture, node: usize) -> impl Iterator<Item = usize> {
    let branches = picture.nodes[node].branches.iter();
    branches.filter(|branch| branch.kind != BranchKind::Joined).map(|branch| branch.child)
}

/// The leftmost and the rightmost middle at each ply of a subtree, relative to its root's.
type Outline = Vec<[f64; 2]>;

struct Placer<'a> {
    picture: &'a Picture,
    distance: f64,
    /// Each node's middle, relative to its parent's.
    from_parent: Vec<f64>,
}

impl Placer<'_> {
    fn place(&mut self, node: usize) -> Outline {
        let mut together: Outline = Vec::new();
        let mut children = Vec::new();
        for child in own_children(self.picture, node) {
            let child_outline = self.place(child);
            let gaps =
                together.iter().zip(&child_outline).map(|([_, right], [left, _])| right - left);
            let nearest = gaps.fold(f64::NEG_INFINITY, f64::max) + self.distance;
            let shift = if children.is_empty() { 0.0 } else { nearest };
            for (ply, [left, right]) in child_outline.into_iter().enumerate() {
                match together.get_mut(ply) {
                    Some(outline) => outline[1] = right + shift,
                    None => together.push([left + shift, right + shift]),
                }
            }
            children.push((child, shift));
        }
        let middle = match (children.first(), children.last()) {
            (Some((_, first)), Some((_, last))) => (first + last) / 2.0,
            _ => 0.0,
        };
        for (child, place) in children {
            self.from_parent[child] = place - middle;
        }
        let below = together.into_iter().map(|[left, right]| [left - middle, right - middle]);
        std::iter::once([0.0, 0.0]).chain(below).collect()
    }
}
