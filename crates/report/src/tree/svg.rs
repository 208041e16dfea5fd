//! A tree as a self-contained picture, in the style of lecture slides.
//!
//! Colours are the reader's (light, dark or print); important facts are also shown by shape, stroke and words.

use std::fmt::Write as _;
use std::io::{self, Write};

use spelrum_engine::{Piece, Side, Sketch};

use super::layout::places;
use super::picture::{BranchKind, Level, Picture, PictureBranch, PictureNode, State};
use super::text::rows;
use crate::plot::with_colors;

/// Pixels of an unscaled picture.
const MARGIN: f64 = 24.0;
const HEADER: f64 = 58.0;
const COUNTS_WIDTH: f64 = 176.0;
const LEGEND: f64 = 40.0;
/// Gap between neighbours.
const GAP: f64 = 22.0;
/// Room for the move above a board, and for the value and a note below it.
const ABOVE: f64 = 15.0;
const VALUE: f64 = 20.0;
const NOTE: f64 = 13.0;
/// Least and greatest space between two plies.
const BETWEEN: [f64; 2] = [40.0, 90.0];
/// Approximate width of a character, in the font of notations.
const CHARACTER: f64 = 6.6;
const TITLE_CHARACTER: f64 = 9.2;

/// Colours by name.
const LIGHT: &str = "--paper:#fff;--ink:#1b1b1f;--soft:#6d6d75;--grid:#a3a3ab;--accent:#0b57a4";
const DARK: &str = "--paper:#17181c;--ink:#ececf1;--soft:#a0a0aa;--grid:#62626c;--accent:#7db8ff";
const PRINT: &str = "--paper:#fff;--ink:#000;--soft:#555;--grid:#888;--accent:#000";

/// Rules without colours.
const FORMS: &str = "\
svg{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}
.title{font-size:16px;font-weight:600}.soft{font-size:11px}.middle{text-anchor:middle}.end{text-anchor:end}
.value{font-weight:600;font-size:13px}.role{font-weight:600}.faint{opacity:.5}
.mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:11px}
.move{paint-order:stroke;stroke-width:4px;font-size:11px}.edge{stroke-width:1;fill:none}.best{stroke-width:3}
.cut{stroke-width:1;stroke-dasharray:4 3}.joined{stroke-width:.9;stroke-dasharray:1.5 3}.frame{stroke-width:1}.frame.best{stroke-width:3}
.grid{stroke-width:.75;fill:none}.part{stroke-width:1;fill:none}.rule{stroke-width:.5}
.stroke{stroke-width:1.6;fill:none;stroke-linecap:round}.disc{stroke:none}.head{stroke-width:3.6;stroke-linecap:round}
.role-mark{fill:none;stroke-width:1.2}.small{font-size:10px}
";

/// Rules with colours.
const COLORS: &str = "\
svg{background:var(--paper)}text{fill:var(--ink)}.soft{fill:var(--soft)}.move{stroke:var(--paper)}.paper{fill:var(--paper)}
.edge,.part,.stroke,.head,.role-mark{stroke:var(--ink)}.disc{fill:var(--ink)}.grid,.rule{stroke:var(--grid)}
.frame{fill:var(--paper);stroke:var(--ink)}.best,.frame.best{stroke:var(--accent)}.cut,.joined,.frame.cut{stroke:var(--soft)}
";

/// Returns the forms, and the colours for light, dark and print; light by default.
fn style() -> String {
    let [light, dark, print] = [LIGHT, DARK, PRINT].map(|palette| with_colors(COLORS, palette));
    format!(
        "{FORMS}{light}@media screen and (prefers-color-scheme:dark){{\n{dark}}}\n@media print{{\n{print}}}\n"
    )
}

/// Writes the tree as SVG.
pub fn write_svg(out: &mut dyn Write, picture: &Picture) -> io::Result<()> {
    out.write_all(Drawing::new(picture).draw().as_bytes())
}

struct Drawing<'a> {
    picture: &'a Picture,
    /// The middle of each node.
    middles: Vec<f64>,
    /// The upper edge of each ply.
    tops: Vec<f64>,
    board_height: f64,
    width: f64,
    height: f64,
    svg: String,
}

impl<'a> Drawing<'a> {
    fn new(picture: &'a Picture) -> Self {
        let mut board_height = 0.0_f64;
        let mut node_width = 0.0_f64;
        for node in &picture.nodes {
            let [width, height] = size(&node.sketch);
            board_height = board_height.max(height);
            node_width = node_width.max(width);
        }
        for branch in picture.nodes.iter().flat_map(|node| &node.branches) {
            node_width = node_width.max(text_width(&branch.label));
        }
        for node in &picture.nodes {
            node_width = node_width.max(value_width(node));
        }
        let mut middles = places(picture, node_width + GAP);
        let left = MARGIN + COUNTS_WIDTH + node_width / 2.0;
        middles.iter_mut().for_each(|middle| *middle += left);
        let right = middles.iter().fold(0.0, |right: f64, middle| right.max(*middle));
        // The title and the legend need some room.
        let title = picture.heading.title.chars().count() as f64 * TITLE_CHARACTER;
        let least = (title + 2.0 * MARGIN).max(680.0);
        let width = (right + node_width / 2.0 + MARGIN).max(least);

        let mut tops = vec![HEADER];
        for ply in 1..picture.levels.len() {
            let reach = reach(picture, &middles, ply - 1);
            let between = (reach / 9.0).clamp(BETWEEN[0], BETWEEN[1]);
            let node = ABOVE + board_height + VALUE + note_height(picture, ply - 1);
            tops.push(tops[ply - 1] + node + between);
        }
        let last = picture.levels.len() - 1;
        let bottom = tops[last] + ABOVE + board_height + VALUE + note_height(picture, last);
        let height = bottom + LEGEND;
        Self { picture, middles, tops, board_height, width, height, svg: String::new() }
    }

    fn draw(mut self) -> String {
        let Self { picture, width, height, .. } = self;
        let heading = &picture.heading;
        let (wide, high) = (number(width), number(height));
        self.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
             viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-labelledby=\"title about\">"
        ));
        let title = escaped(&heading.title);
        self.line(&format!("<title id=\"title\">{title}</title>"));
        let about = format!("{}. Value {}.", heading.sides, picture.value);
        self.line(&format!("<desc id=\"about\">{}</desc>", escaped(&about)));
        self.line(&format!("<style>\n{}</style>", style()));
        self.line(&format!("<rect class=\"paper\" width=\"{wide}\" height=\"{high}\"/>"));
        self.text(MARGIN, 26.0, "title", &heading.title);
        self.text(MARGIN, 44.0, "soft", &heading.sides);
        for ply in 0..picture.levels.len() {
            self.level(ply, &picture.levels[ply]);
        }
        // The best line is drawn above the others.
        for is_best in [false, true] {
            for (id, node) in picture.nodes.iter().enumerate() {
                for branch in node.branches.iter().filter(|branch| branch.is_best == is_best) {
                    self.edge(id, branch);
                }
            }
        }
        for (id, node) in picture.nodes.iter().enumerate() {
            self.node(id, node);
        }
        for node in &picture.nodes {
            for branch in &node.branches {
                let top = self.tops[picture.nodes[branch.child].ply];
                let middle = self.middles[branch.child];
                if branch.kind != BranchKind::Joined {
                    self.text(middle, top + 10.0, "move middle", &branch.label);
                }
            }
        }
        self.legend();
        self.line("</svg>");
        self.svg
    }

    fn line(&mut self, text: &str) {
        self.svg.push_str(text);
        self.svg.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let text = escaped(text);
        self.line(&format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>",
            number(x),
            number(y)
        ));
    }

    /// The counts beside a ply.
    fn level(&mut self, ply: usize, level: &Level) {
        let top = self.tops[ply] + ABOVE;
        let (x1, x2, y) =
            (number(MARGIN), number(self.width - MARGIN), number(self.tops[ply] - 8.0));
        if ply > 0 {
            self.line(&format!("<path class=\"rule\" d=\"M{x1} {y}H{x2}\"/>"));
        }
        let head = match level.to_move.as_str() {
            "" => format!("ply {ply}"),
            to_move => format!("ply {ply}: {to_move}"),
        };
        self.text(MARGIN, top + 8.0, "role", &head);
        let lines = level.lines();
        for (index, line) in lines.iter().enumerate() {
            self.text(MARGIN, top + 23.0 + 14.0 * index as f64, "soft", line);
        }
    }

    fn edge(&mut self, id: usize, branch: &PictureBranch) {
        let picture = self.picture;
        let (node, child) = (&picture.nodes[id], &picture.nodes[branch.child]);
        let bottom = self.tops[node.ply] + ABOVE + self.board_height + VALUE - 1.0;
        let note_space = if note(node).is_some() { NOTE } else { 0.0 };
        let below = match branch.kind {
            BranchKind::Tree | BranchKind::Cut => note_space,
            // A branch that leads far to the side must not cross the notes of the ply.
            BranchKind::Joined => note_height(picture, node.ply),
        };
        let from = [self.middles[id], bottom + below];
        let to = [self.middles[branch.child], self.tops[child.ply] - 1.0];
        let class = match branch.kind {
            BranchKind::Cut => "edge cut",
            BranchKind::Joined | BranchKind::Tree if branch.is_best => "edge best",
            BranchKind::Joined => "edge joined",
            BranchKind::Tree => "edge",
        };
        let first =
            if note_space == below { String::new() } else { format!("V{}", number(from[1])) };
        let path = format!(
            "M{} {}{first}L{} {}",
            number(from[0]),
            number(bottom + note_space),
            number(to[0]),
            number(to[1])
        );
        self.line(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
        match branch.kind {
            BranchKind::Tree => {}
            BranchKind::Cut => self.cut_mark(from, to),
            // The place above the board shows the move that first led there.
            BranchKind::Joined => {
                let [x, y] = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * 0.25);
                self.text(x, y + 3.0, "move small middle", &branch.label);
            }
        }
    }

    /// Draws two short strokes across an edge.
    fn cut_mark(&mut self, from: [f64; 2], to: [f64; 2]) {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = (dx * dx + dy * dy).sqrt().max(1.0);
        let [ux, uy] = [dx / length, dy / length];
        let mut path = String::new();
        for along in [-2.0, 2.0] {
            let x = from[0] + dx * 0.55 + ux * along;
            let y = from[1] + dy * 0.55 + uy * along;
            let _infallible = write!(
                path,
                "M{} {}L{} {}",
                number(x - uy * 5.0),
                number(y + ux * 5.0),
                number(x + uy * 5.0),
                number(y - ux * 5.0)
            );
        }
        self.line(&format!("<path class=\"stroke\" d=\"{path}\"/>"));
    }

    fn node(&mut self, id: usize, node: &PictureNode) {
        let middle = self.middles[id];
        let top = self.tops[node.ply] + ABOVE;
        let [width, height] = size(&node.sketch);
        let is_cut = matches!(node.state, State::Cut);
        let (left, upper) = (middle - width / 2.0, top + (self.board_height - height) / 2.0);
        if is_cut {
            self.line("<g class=\"faint\">");
        }
        let class = match (is_cut, node.is_best) {
            (true, _) => "frame cut",
            (false, true) => "frame best",
            (false, false) => "frame",
        };
        self.line(&format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            number(left),
            number(upper),
            number(width),
            number(height)
        ));
        self.sketch(&node.sketch, left, upper);
        if is_cut {
            self.line("</g>");
        }
        let State::Visited { visit, visits, value, is_max, .. } = &node.state else {
            return;
        };
        let value = &minus(value);
        let again = if *visits > 1 { format!(" ({visits} times)") } else { String::new() };
        self.text(left - 3.0, upper + 9.0, "soft end", &format!("{visit}{again}"));
        let base = top + self.board_height + 15.0;
        match is_max {
            None => self.text(middle, base, "value middle", value),
            Some(is_max) => {
                // Centres the mark together with the value.
                let total_width = 13.0 + text_width(value);
                let left = middle - total_width / 2.0;
                let points = if *is_max { [0.0, -10.0, 0.0] } else { [-10.0, 0.0, -10.0] };
                self.line(&format!(
                    "<path class=\"role-mark\" d=\"M{} {}L{} {}L{} {}Z\"/>",
                    number(left),
                    number(base + points[0]),
                    number(left + 5.0),
                    number(base + points[1]),
                    number(left + 10.0),
                    number(base + points[2])
                ));
                self.text(left + 13.0, base, "value", value);
            }
        }
        if let Some(note) = note(node) {
            self.text(middle, base + NOTE, "soft middle", &note);
        }
    }

    fn sketch(&mut self, sketch: &Sketch, left: f64, top: f64) {
        match sketch {
            Sketch::Board { columns, block, pieces, cells } => {
                self.board(*columns, *block, *pieces, cells, [left, top]);
            }
            Sketch::Pieces { .. } => {
                for (index, row) in (1..).zip(rows(sketch)) {
                    self.text(left + 5.0, top + PIECES_ROW * f64::from(index), "mono", &row);
                }
            }
            Sketch::Heaps(heaps) => {
                let (mut path, mut heads) = (String::new(), String::new());
                let mut x = left + HEAP_GAP / 2.0;
                for &objects in heaps {
                    x += MATCH / 2.0;
                    if objects == 0 {
                        let _infallible = write!(
                            path,
                            "M{} {}h4",
                            number(x - 2.0),
                            number(top + MATCH_HEIGHT / 2.0)
                        );
                        x += MATCH / 2.0;
                    } else {
                        for _ in 0..objects {
                            let _infallible = write!(
                                path,
                                "M{} {}v{}",
                                number(x),
                                number(top + 4.0),
                                number(MATCH_HEIGHT - 8.0)
                            );
                            let _infallible =
                                write!(heads, "M{} {}h0", number(x), number(top + 5.0));
                            x += MATCH;
                        }
                        x -= MATCH / 2.0;
                    }
                    x += HEAP_GAP;
                }
                self.line(&format!("<path class=\"stroke\" d=\"{path}\"/>"));
                if !heads.is_empty() {
                    self.line(&format!("<path class=\"head\" d=\"{heads}\"/>"));
                }
            }
            Sketch::Notation(text) => {
                self.text(left + 5.0, top + 14.0, "mono", text);
            }
        }
    }

    fn board(
        &mut self,
        columns: usize,
        block: usize,
        pieces: [Piece; 2],
        cells: &[Option<Side>],
        [left, top]: [f64; 2],
    ) {
        let cell = cell_size(columns);
        let rows = cells.len().div_ceil(columns);
        let [width, height] = [cell * columns as f64, cell * rows as f64];
        let (mut thin, mut parting, mut strokes) = (String::new(), String::new(), String::new());
        for column in 1..columns {
            let path = if column % block == 0 { &mut parting } else { &mut thin };
            let x = number(left + cell * column as f64);
            let _infallible = write!(path, "M{x} {}v{}", number(top), number(height));
        }
        for row in 1..rows {
            let path = if row % block == 0 { &mut parting } else { &mut thin };
            let y = number(top + cell * row as f64);
            let _infallible = write!(path, "M{} {y}h{}", number(left), number(width));
        }
        self.line(&format!("<path class=\"grid\" d=\"{thin}\"/>"));
        if !parting.is_empty() {
            self.line(&format!("<path class=\"part\" d=\"{parting}\"/>"));
        }
        let radius = cell * 0.3;
        for (index, side) in cells.iter().enumerate() {
            let Some(side) = side else { continue };
            let x = left + cell * ((index % columns) as f64 + 0.5);
            let y = top + cell * ((index / columns) as f64 + 0.5);
            let (cx, cy, r) = (number(x), number(y), number(radius));
            match pieces[side.index()] {
                Piece::Cross => {
                    let (low, size) = (number(y + radius), number(2.0 * radius));
                    let (x, y) = (number(x - radius), number(y - radius));
                    let _infallible =
                        write!(strokes, "M{x} {y}l{size} {size}M{x} {low}l{size} -{size}");
                }
                Piece::Ring => {
                    self.line(&format!(
                        "<circle class=\"stroke\" cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"/>"
                    ));
                }
                Piece::Disc => {
                    let r = number(radius + 0.6);
                    self.line(&format!(
                        "<circle class=\"disc\" cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"/>"
                    ));
                }
            }
        }
        if !strokes.is_empty() {
            self.line(&format!("<path class=\"stroke\" d=\"{strokes}\"/>"));
        }
    }

    /// Explains the strokes that occur.
    fn legend(&mut self) {
        let picture = self.picture;
        let y = self.height - 16.0;
        let mut x = MARGIN;
        let has = |kind: BranchKind| {
            picture.nodes.iter().flat_map(|node| &node.branches).any(|branch| branch.kind == kind)
        };
        let mut entries = vec![("edge best", "best line")];
        if has(BranchKind::Cut) {
            entries.push(("edge cut", "cut off"));
        }
        if has(BranchKind::Joined) {
            entries.push(("edge joined", "to a position that is there already"));
        }
        for (class, words) in entries {
            let path = format!("M{} {}h26", number(x), number(y - 4.0));
            self.line(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
            self.text(x + 32.0, y, "soft", words);
            x += 32.0 + text_width(words) + 20.0;
        }
        let words = "△ MAX chooses, ▽ MIN chooses; small numbers: the order of visits";
        self.text(x, y, "soft", words);
    }
}

const MATCH: f64 = 6.0;
const MATCH_HEIGHT: f64 = 26.0;
const HEAP_GAP: f64 = 12.0;
const PIECES_ROW: f64 = 13.0;

/// The side of a board's cell.
fn cell_size(columns: usize) -> f64 {
    if columns <= 3 { 14.0 } else { 9.0 }
}

/// A sketch's width and height.
fn size(sketch: &Sketch) -> [f64; 2] {
    match sketch {
        Sketch::Board { columns, cells, .. } => {
            let cell = cell_size(*columns);
            [cell * *columns as f64, cell * cells.len().div_ceil(*columns) as f64]
        }
        Sketch::Pieces { columns, cells } => {
            let rows = cells.len().div_ceil(*columns);
            let characters = (2 * columns).saturating_sub(1);
            [characters as f64 * CHARACTER + 10.0, PIECES_ROW * rows as f64 + 6.0]
        }
        Sketch::Heaps(heaps) => {
            let heap = |&objects: &u32| MATCH * f64::from(objects.max(1)) + HEAP_GAP;
            [heaps.iter().map(heap).sum(), MATCH_HEIGHT]
        }
        Sketch::Notation(text) => [text.chars().count() as f64 * CHARACTER + 10.0, 20.0],
    }
}

/// Returns the approximate width of a text in the picture.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Returns the width of the text below a node's board. The note of a node that others hang from has room.
fn value_width(node: &PictureNode) -> f64 {
    match &node.state {
        State::Cut => 0.0,
        State::Visited { value, end, .. } => {
            let end = end.as_ref().map_or(0.0, |end| text_width(end) * 0.9);
            end.max(text_width(value) + 13.0)
        }
    }
}

fn note(node: &PictureNode) -> Option<String> {
    match &node.state {
        State::Cut => None,
        State::Visited { end: Some(end), .. } => Some(end.clone()),
        State::Visited { cutoff, .. } => Some(format!("cut by {}", minus(cutoff.as_ref()?))),
    }
}

/// Replaces the hyphen of a value with a minus sign.
fn minus(value: &str) -> String {
    value.replace('-', "−")
}

/// Returns the room that notes take at a ply.
fn note_height(picture: &Picture, ply: usize) -> f64 {
    let has = picture.nodes.iter().any(|node| node.ply == ply && note(node).is_some());
    if has { NOTE } else { 0.0 }
}

/// Returns how far to the side the edges below a ply lead.
fn reach(picture: &Picture, middles: &[f64], ply: usize) -> f64 {
    let nodes = picture.nodes.iter().enumerate().filter(|(_, node)| node.ply == ply);
    let edges = nodes.flat_map(|(id, node)| {
        node.branches.iter().map(move |branch| (middles[branch.child] - middles[id]).abs())
    });
    edges.fold(0.0, f64::max)
}

/// Formats a number, with a digit after the point if needed.
fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_xml_is_escaped() {
        assert_eq!(
            escaped("a<b> & \"c\" 'd' ≤ α"),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ≤ α"
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 1.5, -0.5, 12.96].map(number), ["1", "1.5", "-0.5", "13"]);
    }
}
