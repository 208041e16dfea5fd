//! Complete pages: small, large, and with texts that would break out of them.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document as Tree, Node};
use sha2::{Digest, Sha256};
use spelrum_answers::{
    CellGames, CellResult, Clusters, ColourResult, Costs, EnginesUsed, ExperimentSummary, Lengths,
    Machine, MoveCost, RatedGroup, RatedPlayer, WorkerShare,
};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, ExperimentId, WorkerId};
use spelrum_statistics::{OverGames, PairCounts, ScoreInterval};

use super::*;
use crate::answers::Answers;
use crate::document::Document;
use crate::plot::{Chart, plot_files};
use crate::tables::text::tests::parts as parts_of;
use crate::tables::{registry, text};
use crate::text::{Column, percent};

/// Texts that would act as markup if not escaped, or change their neighbours' direction.
const HOSTILE: [&str; 9] = [
    "</td></table><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><style>*{background:red}</style>",
    "]]>&lt;&amp;&#x3c;script&#x3e;<!--",
    "\u{202e}gnp.exe\u{2066}\u{200f}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{0627}\u{0644} 棋",
    "a\0b\u{1b}[31mc\u{85}\u{ffff}\u{fdd0}\r\n\td",
    "</text></svg></title></desc><a href=\"javascript:alert(1)\">",
];

fn experiment(name: &str) -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
        name: name.to_owned(),
        game: "pentago".to_owned(),
        task: spelrum_model::Task::Game,
        state: ExperimentState::Running,
        priority: 0,
        cells: 1,
        games_planned: 100,
        games_settled: 50,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

/// A report of two players at each of these places.
fn report(names: [&str; 3], axes: &[&str], places: &[Vec<String>]) -> Report {
    let [name, player, opponent] = names;
    let place = |values: &[String]| -> Vec<Option<String>> {
        values.iter().map(|value| Some(value.clone())).collect()
    };
    let cells = places.iter().zip(1..).map(|(values, id)| CellResult {
        cell: CellId(id),
        axes: place(values),
        player: player.to_owned(),
        opponent: opponent.to_owned(),
        is_timed: false,
        swap_sides: true,
        is_self_play: false,
        openings_used: 10,
        games_planned: 20,
        stop: None,
        is_one_round: false,
        games: 20,
        games_failed: 0,
        wins: 11,
        draws: 4,
        losses: 5,
        pairs: PairCounts([1, 1, 3, 2, 3]),
        pairs_won_by_first_mover: 0,
        pairs_won_by_second_mover: 0,
        distinct_games: 20,
        score: Some(ScoreInterval { score: 0.65, low: 0.45, high: 0.81 }),
        sequence_units: None,
        openings: None,
        first_mover: None,
        colours: Some([[6, 2, 2], [5, 2, 3]].map(|[wins, draws, losses]| ColourResult {
            wins,
            draws,
            losses,
            score: Some(ScoreInterval { score: 0.65, low: 0.36, high: 0.87 }),
        })),
        margin: None,
    });
    let moves = places.iter().zip(1..).flat_map(|(values, id)| {
        [(player, opponent, 12.5), (opponent, player, 1_250.0)].map(|(player, opponent, us)| {
            let mean = OverGames { value: us * id as f64, interval: None };
            MoveCost {
                cell: CellId(id),
                axes: place(values),
                player: player.to_owned(),
                opponent: opponent.to_owned(),
                costs: Costs {
                    searched_moves: 100,
                    wall_us_mean: us,
                    wall_us_game_mean: Some(mean),
                    ..Costs::default()
                },
            }
        })
    });
    Report {
        experiment: experiment(name),
        description: format!("Does {name} play well?"),
        engine_revision: Some(2),
        axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
        first_mover: None,
        cells: cells.collect(),
        moves: moves.collect(),
        depths: Vec::new(),
        accuracy: Vec::new(),
        replayed: Vec::new(),
        disturbed: Vec::new(),
        scaled: Default::default(),
        replicated: None,
        equal_within: None,
        played_on: None,
        claims: Vec::new(),
        engines: EnginesUsed::default(),
        runs: Vec::new(),
    }
}

/// A report with this many values of one axis.
fn along_depth(values: usize) -> Report {
    let places: Vec<_> = (1..=values).map(|depth| vec![depth.to_string()]).collect();
    report(["small", "alphabeta", "mcts"], &["depth"], &places)
}

fn page_of(report: &Report, figures: &[Figure]) -> String {
    written(&text::document(&report.experiment, parts_of(report)), figures)
}

fn page(report: &Report) -> String {
    page_of(report, &report_figures(report, None))
}

fn written(document: &Document, figures: &[Figure]) -> String {
    let mut out = Vec::new();
    let facts = [("experiment", document.title.clone())].into_iter();
    document.write_html(&document.title, facts, figures, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A page as XML: it differs from XML only in its declaration and in elements and cells of tables without an end tag.
fn as_xml(page: &str) -> String {
    let mut xml = page.strip_prefix("<!DOCTYPE html>").unwrap().to_owned();
    for meta in page.match_indices("<meta ").map(|(at, _)| &page[at..]) {
        let tag = &meta[..=meta.find('>').unwrap()];
        xml = xml.replace(tag, &tag.replace('>', "/>"));
    }
    let closed = |cell: &str| {
        let ends = ["<th", "</tr>"].iter().filter_map(|next| cell.find(next));
        let (cell, behind) = cell.split_at(ends.min().unwrap_or(cell.len()));
        format!("<td{cell}</td>{behind}")
    };
    let xml = xml.replace("</td>", "");
    let mut parts = xml.split("<td");
    let before = parts.next().unwrap().to_owned();
    before + &parts.map(closed).collect::<String>()
}

/// Every element with its attributes' names, in their order.
fn structure(page: &str) -> Vec<String> {
    let xml = as_xml(page);
    let tree = Tree::parse(&xml).unwrap();
    let elements = tree.descendants().filter(Node::is_element);
    let named = elements.map(|element| {
        let attributes: Vec<_> =
            element.attributes().map(|attribute| attribute.name().to_owned()).collect();
        format!("{} {}", element.tag_name().name(), attributes.join(" "))
    });
    named.collect()
}

#[test]
fn a_small_page_is_as_it_should_be() {
    let page = page(&along_depth(2));
    let body = &page[page.find("<body>").unwrap()..];
    insta::assert_snapshot!(body.replace('<', "\n<").replace("\n</", "</"));
}

/// Names of any content stay texts in the same places.
#[test]
fn hostile_names_change_nothing_but_texts() {
    let render = |text: &str| {
        let places: Vec<Vec<String>> =
            (0..3).map(|number| vec![format!("{text}{number}"), "x".to_owned()]).collect();
        let player = format!("{text}1");
        let report = report([text, &player, text], &[text, "axis"], &places);
        let mut figures = report_figures(&report, None);
        figures.extend(rating_figures(&ratings(text, 3)));
        let overview = overview([&player, text], &[text, "axis"], &places);
        figures.extend(overview_figures(&overview, None));
        let mut parts = parts_of(&report);
        parts.extend(crate::tables::ratings::parts(
            &ratings(text, 3),
            crate::tables::ratings::Meetings::AskedFor,
        ));
        let answers = Answers::default().with(overview);
        parts.extend(registry::page(&crate::tables::overview::LENGTHS, &answers).unwrap());
        written(&text::document(&report.experiment, parts), &figures)
    };
    for hostile in HOSTILE {
        let page = render(hostile);
        // Equally long, so that equally many fit beside an axis.
        let plain = structure(&render(&"n".repeat(hostile.chars().count())));
        assert!(plain.iter().any(|element| element.starts_with("path")), "{plain:?}");
        assert_eq!(structure(&page), plain, "{hostile:?}");
        let is_unseen = |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!page.contains(is_unseen), "{hostile:?}");
        assert!(
            !page.chars().any(|character| character.is_control() && character != '\n'),
            "{hostile:?}"
        );
    }
    // The text is shown literally, without effect.
    let xml = as_xml(&render(HOSTILE[0]));
    let tree = Tree::parse(&xml).unwrap();
    let cells = tree.descendants().filter(|node| node.has_tag_name("td"));
    assert!(cells.filter_map(|cell| cell.text()).any(|text| text == HOSTILE[0]));
}

#[test]
fn long_names_are_cut_off() {
    let long = "x".repeat(10_000);
    let places: Vec<Vec<String>> = (0..100).map(|number| vec![format!("{long}{number}")]).collect();
    let report = report([&long, &long, &long], &[&long], &places);
    let page = page(&report);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    structure(&page);
}

#[test]
fn a_page_stands_alone_and_has_one_style() {
    let page = page(&along_depth(3));
    for outside in
        ["http:", "https:", "src=", "href", "url(", "@import", "<script", "style=", "<link"]
    {
        assert!(!page.contains(outside), "{outside}");
    }
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = STANDARD.encode(Sha256::digest(style));
    assert!(
        page.contains(&format!("style-src &#39;sha256-{hash}&#39;"))
            || page.contains(&format!("style-src 'sha256-{hash}'")),
        "the policy names another style than that of {hash}"
    );
    let xml = as_xml(&page);
    let tree = Tree::parse(&xml).unwrap();
    let ids: Vec<_> = tree.descendants().filter_map(|node| node.attribute("id")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    // Every image has a text description, if only that of the same image for another width, and every class in it has a
    // style.
    for image in tree.descendants().filter(|node| node.attribute("role") == Some("img")) {
        for (by, tag) in [("aria-labelledby", "title"), ("aria-describedby", "desc")] {
            let id = image.attribute(by).unwrap();
            let about = tree.descendants().find(|node| node.attribute("id") == Some(id)).unwrap();
            assert!(about.has_tag_name(tag) && !about.text().unwrap().is_empty(), "{id}");
            assert_eq!(about.parent().unwrap().parent(), image.parent());
        }
        for class in image.descendants().filter_map(|node| node.attribute("class")) {
            assert!(class.split(' ').any(|class| style.contains(&format!(".{class} "))), "{class}");
        }
    }
}

#[test]
fn where_nothing_was_played_nothing_is_plotted() {
    let mut report = along_depth(2);
    report.moves.clear();
    for cell in &mut report.cells {
        (cell.games, cell.wins, cell.draws, cell.losses) = (0, 0, 0, 0);
        (cell.score, cell.pairs) = (None, PairCounts([0; 5]));
    }
    assert!(report_figures(&report, None).is_empty());
    let nothing = page(&report);
    assert!(!nothing.contains("<svg") && nothing.contains("<table"));
    report.cells.clear();
    assert!(page(&report).contains("no cells"));
}

#[test]
fn one_cell_is_a_page() {
    let report = report(["one", "a", "b"], &[], &[Vec::new()]);
    let figures = report_figures(&report, None);
    let titles: Vec<&str> = figures.iter().map(|figure| &*figure.title).collect();
    assert_eq!(titles, ["Score", "Wins, draws and losses", "Time per move"]);
    structure(&page(&report));
}

/// An overview of two players at each of these places, on two machines; every text of a worker is the second player's
/// name.
fn overview([player, opponent]: [&str; 2], axes: &[&str], places: &[Vec<String>]) -> Overview {
    let cells = places.iter().zip(1..).map(|(values, id)| {
        let mut games = CellGames {
            cell: CellId(id),
            axes: values.iter().map(|value| Some(value.clone())).collect(),
            player: player.to_owned(),
            opponent: opponent.to_owned(),
            lengths: Lengths::default(),
            terminations: BTreeMap::new(),
        };
        games.add(9, "board_full", 5);
        games.add(12, "five_by_placement", 14);
        // The last ending, with any name.
        games.add(30, &format!("z {opponent}"), 1);
        games
    });
    let worker = |id: i64, cpu_model: &str| WorkerShare {
        worker: WorkerId(id),
        name: opponent.to_owned(),
        host: opponent.to_owned(),
        slots: 2,
        engine_revision: 2,
        version: opponent.to_owned(),
        machine: Machine {
            cpu_model: cpu_model.to_owned(),
            logical_cores: Some(8),
            operating_system: opponent.to_owned(),
            build_commit: opponent.to_owned(),
            build_profile: "debug".to_owned(),
            ..Machine::default()
        },
        games: 10,
        plies: 110,
        wall_us: 1_500_000.0,
    };
    Overview {
        experiment: experiment("small"),
        axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
        workers: vec![worker(1, opponent), worker(2, opponent), worker(3, "Another Processor")],
        worker_effects: Vec::new(),
        cells: cells.collect(),
    }
}

#[test]
fn lengths_and_ends_of_games_are_plotted() {
    let places: Vec<_> = (1..=2).map(|depth| vec![depth.to_string()]).collect();
    let overview = overview(["alphabeta", "mcts"], &["depth"], &places);
    let [lengths, ends] = &overview_figures(&overview, None)[..] else { panic!("two figures") };
    assert_eq!(lengths.rows[0], ["alphabeta against mcts", "1", "12", "9", "12"]);
    let headings: Vec<&str> = ends.columns[3..].iter().map(Column::heading).collect();
    assert_eq!(headings, ["board full", "five by placement", "z mcts"]);
    let share = |games: u64| format!("{games} ({})", percent(games as f64 / 20.0));
    assert_eq!(ends.rows[1][2..], ["2".to_owned(), share(5), share(14), share(1)]);
    assert!(overview_figures(&Overview { cells: Vec::new(), ..overview }, None).is_empty());
}

#[test]
fn rare_terminations_are_combined() {
    let mut overview = overview(["a", "b"], &[], &[Vec::new()]);
    for (number, games) in (0..8).zip([30, 1, 31, 1, 32, 1, 33, 1]) {
        overview.cells[0].add(20, &format!("end_{number}"), games);
    }
    let ends = &overview_figures(&overview, None)[1];
    let headings: Vec<&str> = ends.columns[1..].iter().map(Column::heading).collect();
    assert_eq!(headings, ["end 0", "end 2", "end 4", "end 6", "five by placement", "other"]);
    assert!(ends.rows[0][6].starts_with("10 ("), "{:?}", ends.rows);
}

/// A figure's table has exactly the plotted values.
#[test]
fn every_plotted_figure_is_in_a_table() {
    let grid = |first: usize, second: usize| -> Vec<Vec<String>> {
        let points = (0..first).flat_map(|a| (0..second).map(move |b| [a, b]));
        points.map(|point| point.map(|value| value.to_string()).to_vec()).collect()
    };
    for (axes, places) in [
        (&["depth"][..], grid(5, 1)),
        (&["depth", "nodes"], grid(5, 3)),
        (&["depth", "nodes"], grid(100, 100)),
        (&[], vec![Vec::new()]),
    ] {
        let places: Vec<Vec<String>> =
            places.into_iter().map(|place| place[..axes.len().min(place.len())].to_vec()).collect();
        let mut figures = report_figures(&report(["e", "a", "b"], axes, &places), None);
        figures.extend(overview_figures(&overview(["a", "b"], axes, &places), None));
        for figure in figures {
            let plotted: usize = figure
                .panels
                .iter()
                .map(|panel| match &panel.chart {
                    Chart::Curves(curves) => {
                        curves.series.iter().map(|(_, points)| points.len()).sum()
                    }
                    Chart::Intervals(intervals) => intervals.rows.len(),
                    Chart::Outcomes(rows) => rows.len(),
                    Chart::Shares(shares) => shares.rows.len(),
                    Chart::Board(board) => board.0.iter().flatten().count(),
                    Chart::Heat(heat) => heat.values.iter().flatten().flatten().count(),
                })
                .sum();
            assert!(plotted > 0, "{figure:?}");
            assert_eq!(figure.rows.len(), plotted, "{}", figure.title);
            for row in &figure.rows {
                assert_eq!(row.len(), figure.columns.len(), "{row:?}");
            }
        }
    }
    let figures = report_figures(&along_depth(2), None);
    assert_eq!(figures[0].rows[1], ["alphabeta against mcts", "2", "0.6500", "0.4500", "0.8100"]);
    assert_eq!(figures[1].rows[0], ["alphabeta against mcts", "-", "1", "11", "4", "5"]);
    assert_eq!(figures[2].rows[3], ["mcts", "2", "2500.00", "-", "-"]);
}

/// A page shows a part of the cells, and states where to find the others.
#[test]
fn ten_thousand_cells_are_a_page_of_less_than_two_megabytes() {
    let names = ["large", &"p".repeat(255), &"o".repeat(255)];
    let one_axis: Vec<_> =
        (0..10_000).map(|number| vec![number.to_string(), "x".to_owned()]).collect();
    let two_axes: Vec<_> =
        (0..100).flat_map(|a| (0..100).map(move |b| vec![a.to_string(), b.to_string()])).collect();
    let unique_values: Vec<_> =
        (0..10_000).map(|number| vec![format!("value {number}"), "x".to_owned()]).collect();
    for places in [one_axis, two_axes, unique_values] {
        let page = page(&report(names, &["depth", "nodes"], &places));
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
        assert!(page.contains("of 10,000 rows are in this page"));
        assert!(page.contains("spelrum report --format csv --table cells"));
        let markers = page.split("class=\"marker").skip(1);
        let points = markers.map(|part| part.split("/>").next().unwrap().matches('M').count());
        assert!(points.sum::<usize>() > 40);
        structure(&page);
    }
}

fn ratings(name: &str, players: u32) -> Ratings {
    let player = |place: u32| RatedPlayer {
        name: format!("{name}{place}"),
        rating: Some(spelrum_statistics::ratings::Estimate {
            elo: 100.0 - 50.0 * f64::from(place),
            error: (place > 0).then_some(20.0),
        }),
        is_anchor: false,
        games: 10,
        wins: 5,
        draws: 2,
        losses: 3,
    };
    let count = players as usize;
    Ratings {
        experiment: experiment(name),
        axes: Vec::new(),
        groups: vec![RatedGroup {
            point: Vec::new(),
            players: (0..players).map(player).collect(),
            first_move: None,
            draw_rate: 0.1,
            games: 30,
            self_play_games: 0,
            clusters: 10,
            clusters_are: Clusters::Openings,
            difference_errors: vec![Some(30.0); count * (count - 1) / 2],
            meetings: Vec::new(),
            fit: None,
        }],
    }
}

#[test]
fn ratings_have_their_intervals() {
    let [figure] = &rating_figures(&ratings("p", 3))[..] else { panic!("one figure") };
    assert_eq!(figure.rows[1], ["p1", "50.0", "30.0", "70.0"]);
    assert_eq!(figure.rows[0], ["p0", "100.0", "-", "-"]);
    let large = &rating_figures(&ratings("p", 300))[0];
    assert_eq!(large.rows.len(), 60);
    assert!(large.notes[1].contains("The first 60 of 300 players are here"), "{:?}", large.notes);
    assert!(rating_figures(&ratings("p", 1)).is_empty());
}

/// The names and texts of files, one for each plot.
fn named(figures: &[Figure]) -> Vec<(String, String)> {
    let files = plot_files(figures, None, "small").unwrap();
    files.into_iter().map(|file| (file.name, file.svg)).collect()
}

/// Every kind of plot, with texts like this one, as separate files.
fn files(text: &str) -> Vec<(String, String)> {
    let places: Vec<Vec<String>> = (0..8)
        .map(|index| vec![format!("{text}{}", index % 4), format!("{text}{}", index / 4)])
        .collect();
    let player = format!("{text}1");
    let mut figures =
        report_figures(&report([text, &player, text], &[text, "axis"], &places), None);
    figures.extend(rating_figures(&ratings(text, 3)));
    figures.extend(overview_figures(&overview([&player, text], &[text, "axis"], &places), None));
    let panels: usize = figures.iter().map(|figure| figure.panels.len()).sum();
    let files = named(&figures);
    assert!(panels > figures.len() && files.len() == panels, "{panels}");
    files
}

/// Asserts that a file is self-contained, has no scripts, and contains only its drawing.
fn assert_alone(name: &str, svg: &str) {
    let tree = Tree::parse(svg).unwrap();
    let root = tree.root_element();
    assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")), "{name}");
    let child = |name| root.children().find(|node| node.tag_name().name() == name).unwrap();
    let style = child("style").text().unwrap();
    for forbidden in ["url(", "@import", "@font", "http", "\\"] {
        assert!(!style.contains(forbidden), "{forbidden}");
    }
    for (attribute, element) in [("aria-labelledby", "title"), ("aria-describedby", "desc")] {
        assert_eq!(root.attribute(attribute), child(element).attribute("id"));
        assert!(!child(element).text().unwrap().trim().is_empty(), "{name}");
    }
    for element in tree.descendants().filter(Node::is_element) {
        let drawn = ["g", "path", "rect", "text"];
        assert!(
            drawn.contains(&element.tag_name().name())
                || element.parent() == Some(root)
                || element == root
        );
        for attribute in element.attributes() {
            let [name, value] = [attribute.name(), attribute.value()];
            assert!(name == "transform" || !name.starts_with("on"), "{name}");
            assert!(!["href", "style", "src"].contains(&name), "{name}");
            // No attribute contains a user's text.
            assert!(!value.contains(['<', '&', ':', '\'']), "{name}: {value}");
        }
        for class in element.attribute("class").unwrap_or_default().split_whitespace() {
            assert!(style.contains(&format!(".{class} ")), "{class}");
        }
    }
    let stem = name.strip_suffix(".svg").unwrap();
    assert!(stem.len() < 90 && !stem.starts_with('-') && !stem.is_empty(), "{stem}");
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    assert!(stem.bytes().all(is_plain), "{stem}");
}

#[test]
fn plots_are_files_that_stand_alone_whatever_names_say() {
    for text in HOSTILE.into_iter().chain(["depth", &"x".repeat(1_000), &"\u{68cb} ".repeat(500)]) {
        let files = files(text);
        let names: BTreeSet<&str> = files.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names.len(), files.len(), "{names:?}");
        for (name, svg) in &files {
            assert_alone(name, svg);
            let is_unseen = |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            assert!(!svg.contains(is_unseen), "{text:?}");
            assert!(
                !svg.chars().any(|character| character.is_control() && character != '\n'),
                "{text:?}"
            );
            assert!(svg.len() < 100_000, "{} bytes", svg.len());
        }
    }
    // The text is shown literally, without effect.
    let files = files(HOSTILE[0]);
    let tree = Tree::parse(&files[0].1).unwrap();
    let title = tree.descendants().find(|node| node.tag_name().name() == "title").unwrap();
    assert!(title.text().unwrap().starts_with(&format!("Score by {}", HOSTILE[0])));
}

#[test]
fn a_plot_has_its_title_and_its_legend_in_it() {
    let files = named(&report_figures(&along_depth(2), None));
    let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    let expected =
        ["score-by-depth.svg", "wins-draws-and-losses-by-depth.svg", "time-per-move-by-depth.svg"];
    assert_eq!(names, expected);
    for ((_, svg), legend) in files.iter().zip([
        &["Score by depth", "alphabeta against mcts"][..],
        &["Wins, draws and losses by depth", "alphabeta against mcts", "win", "draw", "loss"],
        &["Time per move by depth", "alphabeta", "mcts"],
    ]) {
        let tree = Tree::parse(svg).unwrap();
        let texts: Vec<&str> = tree
            .descendants()
            .filter(|node| node.tag_name().name() == "text")
            .filter_map(|node| node.text())
            .collect();
        assert_eq!(texts[..legend.len()], *legend);
    }
    // Files with equal names are numbered.
    let scores = report_figures(&along_depth(2), None);
    let twice = named(&[&scores[..1], &scores[..1]].concat());
    let names: Vec<&str> = twice.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["score-by-depth.svg", "score-by-depth-2.svg"]);
}

#[test]
fn two_axes_have_a_map_and_any_of_them_can_be_chosen() {
    let places: Vec<Vec<String>> = ["1", "2", "3"]
        .iter()
        .flat_map(|depth| ["10", "20"].map(|nodes| vec![(*depth).to_owned(), nodes.to_owned()]))
        .collect();
    let mut report = report(["two", "alphabeta", "mcts"], &["depth", "nodes"], &places);
    report.cells.iter_mut().zip(1..).for_each(|(cell, number)| {
        let score = f64::from(number) / 10.0;
        cell.score = Some(ScoreInterval { score, low: score - 0.1, high: score + 0.1 });
    });
    let titles = |axis: Option<&str>| -> Vec<String> {
        report_figures(&report, axis).into_iter().map(|figure| figure.title).take(2).collect()
    };
    assert_eq!(titles(None), ["Score by depth", "Score by depth and nodes"]);
    assert_eq!(titles(Some("nodes")), ["Score by nodes", "Score by nodes and depth"]);
    let figures = report_figures(&report, None);
    let Chart::Heat(heat) = &figures[1].panels[0].chart else { panic!("{figures:?}") };
    assert_eq!(figures[1].panels[0].heading.as_deref(), Some("alphabeta against mcts"));
    assert_eq!((heat.columns.len(), heat.rows.len()), (3, 2));
    assert_eq!(heat.values[0], [Some(0.1), Some(0.3), Some(0.5)]);
    // A page of a coordinator opens each to its games, wide and narrow, and a file has no links.
    let page = figures[1].markup(1, Some("/games?cell=")).unwrap().into_string();
    let tree = Tree::parse(&page).unwrap();
    let links: Vec<_> = tree.descendants().filter(|node| node.has_tag_name("a")).collect();
    assert_eq!(links.len(), 12);
    let cell = report.cells[0].cell;
    assert_eq!(links[0].attribute("href"), Some(&*format!("/games?cell={cell}")));
    assert_eq!(links[0].attribute("aria-label"), Some("depth 1, nodes 10: 0.10"));
    assert!(!figures[1].markup(1, None).unwrap().into_string().contains("<a "));
    assert_eq!(
        figures[1].rows[1],
        ["alphabeta against mcts", "-", "1", "20", "0.2000", "0.1000", "0.3000"]
    );
    let size = "900x500".parse().unwrap();
    let files = plot_files(&figures, Some(size), "two").unwrap();
    assert!(files[0].svg.contains(r#"width="932""#), "{}", files[0].svg);
    // Every plot names both players.
    for file in &files {
        assert!(file.svg.contains("alphabeta") && file.svg.contains("mcts"), "{}", file.name);
    }
}
