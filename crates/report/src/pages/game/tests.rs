use std::collections::BTreeMap;

use spelrum_answers::{GameSummary, Played};
use spelrum_engine::{
    Game, GameSetup, Player, Remarks, SearchDetails, Termination, Timeless, play_game, with_game,
};
use spelrum_model::engines::EngineIdentity;
use spelrum_model::{CellDefinition, CellId, GameEnd, GameId};

use super::*;

/// A settled game by these rules between two of a player; all its times are alike.
fn settled(rules: &str, player: &str, max_plies: u32, key: u8) -> SettledGame {
    fn start<G: Game>(rules: &Rules) -> String {
        G::start(rules).unwrap().to_string()
    }
    let rules: Rules = serde_json::from_str(rules).unwrap();
    let opening = with_game!(&rules, G => start::<G>(&rules));
    let parameters: Parameters = serde_json::from_str(player).unwrap();
    let built = Player::from_parameters(&rules, &parameters).unwrap();
    let setup = GameSetup {
        rules: &rules,
        opening: &opening,
        players: [&built, &built],
        keys: [[key; 32], [key + 1; 32]],
        max_plies: Some(max_plies),
        adjudication: None,
        stops: None,
    };
    let record = play_game(&setup, &Timeless).unwrap();
    let definition: CellDefinition = serde_json::from_value(serde_json::json!({
        "format": 1, "seed": 7, "rules": rules, "openings": { "kind": "start" }, "max_plies": max_plies,
        "players": [parameters, parameters],
    }))
    .unwrap();
    let end = GameEnd {
        first_side: record.first_side,
        outcome: record.outcome,
        margin: record.margin,
        termination: record.termination,
        plies: record.plies(),
        moves_hash: record.moves_hash(),
    };
    let moves = record.moves.into_iter().map(|record| MoveRecord { wall_us: 1_234, ..record });
    SettledGame {
        summary: GameSummary {
            game_id: 17,
            game: GameId { cell: CellId(3), number: 5 },
            players: ["old".to_owned(), "new".to_owned()],
            result: GameResult::Played(Played { opening, end, engine_revision: 4 }),
            not_counted_reason: None,
            wall_us: Some(56_789),
            worker: None,
        },
        experiment: "depths".to_owned(),
        experiment_uuid: "0b1c6d1e-0000-4000-8000-000000000000".to_owned(),
        definition_hash: definition.hash(),
        definition_json: definition.canonical_json(),
        moves: Some(moves.collect()),
        engines: [None, None],
        forfeit: None,
    }
}

fn page(game: &SettledGame, ply: Option<u32>) -> String {
    game_markup(game, ply).into_string()
}

fn game_markup(game: &SettledGame, ply: Option<u32>) -> Markup {
    super::game(game.clone(), ply, &maud::Markup::default()).unwrap()
}

fn games() -> Vec<(&'static str, SettledGame)> {
    let searching = r#"{"algorithm":"alpha-beta","depth":2}"#;
    let shallow = r#"{"algorithm":"alpha-beta","depth":1}"#;
    let mut games = vec![
        ("chess", settled(r#"{"name":"chess"}"#, shallow, 8, 1)),
        ("chess960", settled(r#"{"name":"chess","chess960":true,"start":500}"#, shallow, 4, 1)),
        ("connect_four", settled(r#"{"name":"connect-four"}"#, searching, 7, 1)),
        ("nim", settled(r#"{"name":"nim","heaps":[1,3,5],"misere":true}"#, searching, 20, 1)),
        ("othello", settled(r#"{"name":"othello"}"#, shallow, 6, 1)),
        ("pentago", settled(r#"{"name":"pentago"}"#, shallow, 5, 1)),
        ("tic_tac_toe", settled(r#"{"name":"tic-tac-toe"}"#, searching, 9, 1)),
    ];
    for game in Rules::games() {
        if !games.iter().any(|(name, _)| name.replace('_', "-") == game.name) {
            let rules = format!(r#"{{"name":"{}"}}"#, game.name);
            games.push((game.name, settled(&rules, shallow, 4, 1)));
        }
    }
    games
}

#[test]
fn every_game_has_a_page() {
    for (name, game) in games() {
        let markup = page(&game, None).replace("><", ">\n<");
        roxmltree::Document::parse(&format!("<main>{}</main>", as_xml(&markup))).unwrap();
        insta::assert_snapshot!(name, markup);
    }
}

/// HTML as XML: elements without an end are closed.
fn as_xml(markup: &str) -> String {
    let attributes = markup.replace(" readonly", " readonly=\"\"");
    let inputs = attributes.split("<input").enumerate().map(|(index, part)| match index {
        0 => part.to_owned(),
        _ => format!("<input{}", part.replacen('>', "/>", 1)),
    });
    inputs.collect::<String>().replace("<br>", "<br/>")
}

/// A chess game of many plies by an engine with much to tell.
fn long_game(plies: u32) -> SettledGame {
    let random = r#"{"algorithm":"random"}"#;
    let games = (1..100).map(|key| settled(r#"{"name":"chess"}"#, random, plies, key));
    let is_long = |game: &SettledGame| game.moves.as_ref().unwrap().len() == plies as usize;
    let mut game = games.into_iter().find(is_long).unwrap();
    let remarks = Remarks {
        note: "a \u{202e}note\n".repeat(150),
        distribution: (0..64).map(|number| (format!("a{number}"), 10_000 + number)).collect(),
        refused: 2,
        details: SearchDetails {
            seldepth: Some(60),
            hashfull: Some(999),
            tbhits: Some(123_456_789),
            pv: "e2e4 ".repeat(200),
        },
    };
    for (ply, record) in (0..).zip(game.moves.as_mut().unwrap()) {
        record.wall_us = 123_456;
        record.search.depth = 25;
        record.search.nodes = 12_345_678;
        record.search.score = Some(if ply % 7 == 0 { 999_997 } else { ply * 17 - 1_000 });
        record.remarks = Some(Box::new(remarks.clone()));
    }
    let engine = EngineIdentity { name: "n".repeat(200), author: String::new(), sha256: [7; 32] };
    game.engines = [Some(engine.clone()), Some(engine)];
    game
}

#[test]
fn a_page_of_many_plies_is_small() {
    for plies in [300, 420] {
        let game = long_game(plies);
        for ply in [None, Some(0), Some(150)] {
            let bytes = page(&game, ply).len();
            assert!(bytes < 60_000, "{bytes} bytes with {plies} plies at {ply:?}");
        }
    }
}

/// All moves of a long game can be reached, though a page lists only some.
#[test]
fn the_list_of_a_long_game_moves_along() {
    let game = long_game(420);
    for (ply, listed) in
        [(0, "Moves 1 to 300 of 420"), (200, "Moves 51 to 350"), (420, "Moves 121 to 420")]
    {
        let page = page(&game, Some(ply));
        assert!(page.contains(listed), "{ply}");
        assert_eq!(page.matches("aria-current").count(), usize::from(ply > 0), "{ply}");
    }
}

#[test]
fn links_lead_to_the_other_plies() {
    let (_, game) = &games()[6];
    let last = game.moves.as_ref().unwrap().len() as u32;
    let hrefs = |ply: Option<u32>| {
        let page = page(game, ply);
        let nav = page.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
        let links = nav.split("href=\"?ply=").skip(1);
        links
            .map(|link| link.split('"').next().unwrap().parse::<u32>().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(hrefs(Some(0)), [1, last]);
    assert_eq!(hrefs(Some(3)), [0, 2, 4, last]);
    assert_eq!(hrefs(None), [0, last - 1]);
    assert_eq!(page(game, None), page(game, Some(u32::MAX)));
}

/// Texts of users and engines are neither markup nor act invisibly.
#[test]
fn no_text_becomes_markup() {
    let evil = "</p><script>alert(1)</script><b style=\"x\" onclick='y'>\u{1b}[31m\u{202e}&amp;";
    let mut game = long_game(30);
    game.experiment = evil.to_owned();
    game.experiment_uuid = evil.to_owned();
    game.summary.players = [evil.to_owned(), evil.to_owned()];
    game.summary.not_counted_reason = Some(evil.to_owned());
    game.forfeit = Some(Forfeit { message: evil.to_owned(), output: evil.to_owned() });
    for engine in game.engines.iter_mut().flatten() {
        engine.name = evil.to_owned();
    }
    for record in game.moves.as_mut().unwrap() {
        record.remarks = Some(Box::new(Remarks {
            note: evil.to_owned(),
            distribution: BTreeMap::from([(evil.to_owned(), 7)]),
            refused: 0,
            details: SearchDetails { pv: evil.to_owned(), ..SearchDetails::default() },
        }));
    }
    let illegal = {
        let mut game = game.clone();
        game.moves.as_mut().unwrap()[7].mv = evil.to_owned();
        game
    };
    let failed = {
        let mut game = game.clone();
        game.summary.result = GameResult::Failed(evil.to_owned());
        game
    };
    let mut no_opening = game.clone();
    if let GameResult::Played(played) = &mut no_opening.summary.result {
        played.opening = evil.to_owned();
    }
    for game in [&game, &illegal, &failed, &no_opening] {
        for ply in [None, Some(0), Some(8)] {
            let page = page(game, ply);
            assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
            assert!(page.contains("&lt;script&gt;"));
            assert_is_plain(&page);
        }
    }
    assert!(page(&illegal, None).contains("Move 8 is not legal"));
    assert!(page(&no_opening, None).contains("The opening is not valid"));
    assert!(page(&failed, None).contains("failed"));
}

/// No element or attribute that a strict policy refuses.
fn assert_is_plain(page: &str) {
    let xml = format!("<main>{}</main>", as_xml(page));
    let document = roxmltree::Document::parse(&xml).unwrap();
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let name = element.tag_name().name();
        assert!(!["script", "style", "iframe", "object", "img"].contains(&name), "{name}");
        for attribute in element.attributes() {
            let name = attribute.name();
            assert!(name != "style" && !name.starts_with("on"), "{name} in {page}");
        }
    }
}

#[test]
fn pages_have_no_inline_style_or_script() {
    for (_, game) in games() {
        (0..=3).for_each(|ply| assert_is_plain(&page(&game, Some(ply))));
    }
    for forbidden in ["eval(", "innerHTML =", "insertAdjacentHTML", ".style", "document.write"] {
        assert!(!include_str!("../game.js").contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_game_without_moves_shows_its_opening() {
    let mut game = settled(r#"{"name":"tic-tac-toe"}"#, r#"{"algorithm":"random"}"#, 9, 1);
    game.moves = None;
    let page = page(&game, None);
    assert!(page.contains("The opening") && page.contains("not recorded"), "{page}");
    assert!(!page.contains("<form") && page.contains("x to move"), "{page}");
}

#[test]
fn forfeits_and_reasons_are_shown() {
    let mut game = settled(r#"{"name":"tic-tac-toe"}"#, r#"{"algorithm":"random"}"#, 2, 1);
    if let GameResult::Played(played) = &mut game.summary.result {
        played.end.termination = Termination::TIME_FORFEIT;
        played.end.outcome = Outcome::Loss;
    }
    game.forfeit =
        Some(Forfeit { message: "it took 2 s".to_owned(), output: "> go\n< hm".to_owned() });
    game.summary.not_counted_reason = Some("it was played twice".to_owned());
    let page = page(&game, Some(1));
    for expected in [
        "new wins",
        "The fault: it took 2 s.",
        "&gt; go\n&lt; hm",
        "does not count: it was played twice.",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn commands_can_be_pasted_into_a_shell() {
    assert_eq!(shell_word("a-b_c.d,e/f=1"), "a-b_c.d,e/f=1");
    assert_eq!(shell_word("heaps=[1,3]"), "'heaps=[1,3]'");
    assert_eq!(shell_word("it's; $(x)"), r"'it'\''s; $(x)'");
    let (_, nim) = &games()[3];
    let page = page(nim, Some(1));
    assert!(
        page.contains("spelrum analyze nim --rule 'heaps=[1,3,5]' --rule misere=true --position "),
        "{page}"
    );
    assert!(page.contains("spelrum replay 17\n"), "{page}");
}

#[test]
fn scores_of_wins_are_words() {
    let shown = [5, -5, WIN_MIN, -WIN_MIN, WIN - 3, 3 - WIN].map(short_score);
    assert_eq!(shown, ["5", "-5", "win", "loss", "win in 3", "loss in 3"]);
}

/// Where its players cannot search, a person still plays on, against another player.
#[test]
fn only_players_that_can_search_are_offered() {
    let game = settled(r#"{"name":"tic-tac-toe"}"#, r#"{"algorithm":"random"}"#, 9, 1);
    let links = |can_search: bool| {
        crate::pages::continue_game(&game, Some(1), |_, _| can_search).into_string()
    };
    assert!(links(true).contains("think=1") && links(true).contains("exact=1"));
    let others = links(false);
    assert!(!others.contains("think=1") && !others.contains("player="), "{others}");
    assert!(others.contains("against a built-in player"), "{others}");
}
