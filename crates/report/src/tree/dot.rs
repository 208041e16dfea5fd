//! A tree for Graphviz.

use std::io::{self, Write};

use super::picture::{BranchKind, Picture, PictureNode, State};
use super::text::rows;
use super::win_notation::role;

/// Writes the tree in the DOT language.
pub fn write_dot(out: &mut dyn Write, picture: &Picture) -> io::Result<()> {
    let heading = &picture.heading;
    writeln!(out, "digraph tree {{")?;
    writeln!(out, "  label = {};", quoted(&format!("{}\n{}", heading.title, heading.sides)))?;
    writeln!(out, "  labelloc = t;\n  fontname = \"sans-serif\";")?;
    writeln!(out, "  ordering = out;")?;
    writeln!(out, "  node [shape = box, fontname = \"monospace\", fontsize = 10];")?;
    writeln!(out, "  edge [arrowhead = none, fontname = \"monospace\", fontsize = 9];")?;
    for (ply, level) in picture.levels.iter().enumerate() {
        let mut lines = vec![format!("ply {ply}"), level.to_move.clone()];
        lines.retain(|line| !line.is_empty());
        lines.extend(level.lines());
        let text = lines.join("\n");
        writeln!(out, "  ply{ply} [shape = plaintext, label = {}];", quoted(&text))?;
        if ply > 0 {
            writeln!(out, "  ply{} -> ply{ply} [style = invis];", ply - 1)?;
        }
        let nodes = picture.nodes.iter().enumerate().filter(|(_, node)| node.ply == ply);
        let ids: Vec<String> = nodes.map(|(id, _)| format!("n{id}; ")).collect();
        writeln!(out, "  {{ rank = same; ply{ply}; {}}}", ids.concat())?;
    }
    for (id, node) in picture.nodes.iter().enumerate() {
        writeln!(out, "  n{id} [label = {}{}];", quoted(&label(node)), style(node))?;
    }
    for (id, node) in picture.nodes.iter().enumerate() {
        for branch in &node.branches {
            let style = match branch.kind {
                BranchKind::Cut => ", style = dashed, color = gray50",
                BranchKind::Joined | BranchKind::Tree if branch.is_best => ", penwidth = 3",
                BranchKind::Joined => ", style = dotted, constraint = false",
                BranchKind::Tree => "",
            };
            let label = quoted(&branch.label);
            writeln!(out, "  n{id} -> n{} [label = {label}{style}];", branch.child)?;
        }
    }
    writeln!(out, "}}")
}

fn label(node: &PictureNode) -> String {
    let board = rows(&node.sketch).join("\n");
    match &node.state {
        State::Cut => format!("{board}\ncut off"),
        State::Visited { visit, value, is_max, end, cutoff, .. } => {
            let role = is_max.map_or(String::new(), |is_max| format!("{} ", role(is_max)));
            let mut label = format!("{visit}.\n{board}\n{role}{value}");
            if let Some(end) = end {
                label += &format!("\n{end}");
            }
            if let Some(cutoff) = cutoff {
                label += &format!("\ncut by {cutoff}");
            }
            label
        }
    }
}

fn style(node: &PictureNode) -> &'static str {
    match node.state {
        State::Cut => ", style = dashed, color = gray50, fontcolor = gray40",
        State::Visited { .. } if node.is_best => ", penwidth = 3",
        State::Visited { .. } => "",
    }
}

/// Quotes a text for DOT, its lines centred.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\"\nc\\d"), r#""a \"b\"\nc\\d""#);
    }
}
