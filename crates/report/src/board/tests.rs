use spelrum_engine::{Game, Random, Rules, TextGame, with_game};

use super::*;

/// The diagram after these moves from the start.
fn drawn(rules: &str, moves: &str) -> String {
    fn start<G: Game>(rules: &Rules) -> String {
        G::start(rules).unwrap().to_string()
    }
    let rules: Rules = serde_json::from_str(rules).unwrap();
    let start = with_game!(&rules, G => start::<G>(&rules));
    let mut game = TextGame::new(&rules, &start).unwrap();
    moves.split_whitespace().for_each(|mv| game.play(mv).unwrap());
    diagram(rules.game(), &game.diagram()).into_string()
}

/// The moves of a random game, the first of them.
fn some_moves<G: Game>() -> String {
    let mut position = G::start(&Rules::usual::<G>()).unwrap();
    let mut random = Random::from_key([7; 32]);
    let mut moves = Vec::new();
    while moves.len() < 6 && !position.is_over() {
        let mv = position.random_move(&mut random);
        moves.push(mv.to_string());
        position.play_unchecked(mv);
    }
    moves.join(" ")
}

/// A diagram of each game; all kinds of marks are in them.
fn gallery() -> Vec<(&'static str, String)> {
    let mut gallery = vec![
        ("chess", drawn(r#"{"name":"chess"}"#, "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1")),
        ("chess960", drawn(r#"{"name":"chess","chess960":true,"start":500}"#, "e2e4 d7d5 e4d5")),
        ("pentago", drawn(r#"{"name":"pentago"}"#, "c3-2r d4-1l b2-4r a1-1r")),
        ("tic-tac-toe", drawn(r#"{"name":"tic-tac-toe"}"#, "b2 a1 c3")),
        ("nim", drawn(r#"{"name":"nim"}"#, "b3 c2")),
        ("connect-four", drawn(r#"{"name":"connect-four"}"#, "d d e c d a d")),
        ("othello", drawn(r#"{"name":"othello"}"#, "d3 c3 c4 c5")),
    ];
    let others = with_game!(each G => {
        let is_drawn = gallery.iter().any(|(name, _)| *name == G::NAME);
        let rules = serde_json::to_string(&Rules::usual::<G>()).unwrap();
        (!is_drawn).then(|| (G::NAME, drawn(&rules, &some_moves::<G>())))
    });
    gallery.extend(others.into_iter().flatten());
    gallery
}

/// Bytes of a diagram at most, and for each element of a larger one.
const BYTES_MAX: [usize; 2] = [8_000, 150];

#[test]
fn every_game_is_drawn() {
    for (name, svg) in gallery() {
        let document = roxmltree::Document::parse(&svg).unwrap();
        let elements = document.descendants().filter(|node| node.is_element()).count();
        let bytes_max = BYTES_MAX[0].max(BYTES_MAX[1] * elements);
        assert!(svg.len() < bytes_max, "{name}: {} bytes of {bytes_max}", svg.len());
        assert!(document.root_element().attribute("aria-label").is_some());
        assert!(!svg.contains("style"), "{name}");
        insta::assert_snapshot!(name, svg.replace("><", ">\n<"));
    }
}

/// No name, whatever it is, becomes markup.
#[test]
fn notations_and_unknown_pieces_are_text() {
    let rules = Rules::from_name("chess").unwrap();
    let (row_names, to_move) = (RowNames::Down, None);
    let shown = |sketch: Sketch| {
        let shown = Diagram { sketch, row_names, marks: Vec::new(), to_move };
        diagram(rules.game(), &shown).into_string()
    };
    let notation = shown(Sketch::Notation("<b>\"\u{202e}&".to_owned()));
    assert!(notation.contains("&lt;b&gt;&quot;\u{fffd}&amp;") && !notation.contains("<b>"));
    let pieces =
        shown(Sketch::Pieces { columns: 2, cells: vec![Some('<'), Some('Z'), None, None] });
    assert!(pieces.contains("&lt;</text>") && pieces.contains(">z</text>"), "{pieces}");
    assert!(pieces.contains("white: z b1; black: &lt; a1; the game is over"), "{pieces}");
}

/// Relative luminance and contrast as in WCAG 2.2.
fn contrast(colors: [&str; 2]) -> f64 {
    let luminance = |color: &str| {
        let digits = color.trim_start_matches('#');
        let digits: Vec<String> = match digits.len() {
            3 => digits.chars().map(|digit| format!("{digit}{digit}")).collect(),
            _ => [0, 2, 4].map(|at| digits[at..at + 2].to_owned()).to_vec(),
        };
        let linear = digits.iter().map(|digits| {
            let part = f64::from(u8::from_str_radix(digits, 16).unwrap()) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        linear.zip([0.2126, 0.7152, 0.0722]).map(|(part, weight)| part * weight).sum::<f64>()
    };
    let [one, two] = colors.map(|color| luminance(color) + 0.05);
    one.max(two) / one.min(two)
}

/// In light and dark, a stone's face or its edge stands out from every ground that it is on, and the face from the edge.
#[test]
fn stones_stand_out() {
    let palette = include_str!("../plot/palette.css");
    let (light, dark) = include_str!("board.css").split_once("@media").unwrap();
    let (palette_light, palette_dark) = palette.split_once("@media").unwrap();
    let value = |text: &str, name: &str| {
        let after = text.split(&format!("{name}: ")).nth(1)?;
        Some(after.split(';').next().unwrap().to_owned())
    };
    for sources in [[palette_light, light].as_slice(), &[dark, palette_dark, light, palette_light]]
    {
        let color = |name: &str| {
            sources.iter().find_map(|text| value(text, name)).unwrap_or_else(|| panic!("no {name}"))
        };
        let stones = [
            (
                "--white-piece",
                "--on-white",
                ["--cell", "--cell-dark", "--felt", "--mark"].as_slice(),
            ),
            ("--black-piece", "--on-black", &["--cell", "--cell-dark", "--felt", "--mark"]),
            ("--red-piece", "--on-red", &["--rack", "--mark"]),
            ("--yellow-piece", "--on-yellow", &["--rack", "--mark"]),
        ];
        for (face, edge, grounds) in stones {
            let [face, edge] = [face, edge].map(color);
            assert!(contrast([&face, &edge]) >= 4.5, "{face} and its edge");
            for ground in grounds.iter().map(|ground| color(ground)) {
                let best = contrast([&face, &ground]).max(contrast([&edge, &ground]));
                assert!(best >= 3.0, "{face} on {ground}: {best}");
            }
        }
        let page = color("--page");
        for mark in ["--s0", "--s1", "--soft"].map(color) {
            assert!(contrast([&mark, &page]) >= 3.0, "{mark} on {page}");
        }
    }
}
