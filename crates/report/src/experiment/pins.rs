//! Pins of every table in every form: people have their words and keys in scripts.

use clap::ValueEnum as _;
use spelrum_answers::{
    CellAccuracy, CellMargin, CellStop, Comparisons, CpuQuota, DisturbedGames, Evolution,
    MixedCell, OutcomeLengths, Overruns, Overview, PhaseUnit, Phases, PlayedOn, PlayerForfeits,
    Ratings, Relative, ReplayedGames, Report, RunResult, ScaledGames, StatedCell, StatedClaim,
    UsedEngine,
};
use spelrum_model::claims::Statement;
use spelrum_model::course::{
    Begun, Behind, Bounds, Confirmed, CourseKind, Estimate, Generation, Individual, Place,
    RaceStandings, Runner, Setting, SettingsScore,
};
use spelrum_model::engines::EngineIdentity;
use spelrum_model::labels::Label;
use spelrum_model::speed::Scaling;
use spelrum_model::{AxisValue, CellId, DefinitionHash, Role, Task};
use spelrum_statistics::claims::{About, Bound, Quantifier};
use spelrum_statistics::{
    EloModel, Interval, OpeningSpread, OverGames, ScoreInterval, Sprt, StopRule, choice,
};

use super::{Answers, Needs, ReportFormat, Shown, TableStyle, write};
use crate::tables::TableName;
use crate::tables::{
    comparisons, outcome_lengths, overview, phases, ratings, replicated, text, worker_effects,
};

/// Answers with something for every table of games.
fn games() -> Answers {
    let mut played = overview::tests::overview(vec![
        overview::tests::worker(1, "rack-1", "A Processor", "release"),
        overview::tests::of_unknown_machine(),
    ]);
    let machine = &mut played.workers[0].machine;
    machine.cpu_quota = CpuQuota::new(150_000, 100_000);
    machine.quiet_slots = Some(2);
    machine.labels = [("site", "lab2"), ("gpu", "")]
        .map(|(name, value)| Label { name: name.to_owned(), value: value.to_owned() })
        .into();
    played.worker_effects = worker_effects::tests::overview(1e-30).worker_effects;
    let report = report();
    let mut rated = ratings::tests::ladder(4, &["alphabeta(depth=1)"], &["plies", "elo"]);
    rated.groups.extend(ratings::tests::cycle(&["plies", "elo"]).groups);
    rated.experiment = report.experiment.clone();
    Answers::default()
        .with(outcome_lengths::tests::outcome_lengths(&report.experiment))
        .with(report)
        .with(rated)
        .with(comparisons::tests::comparisons())
        .with(phases::tests::phases(PhaseUnit::EmptyCells, ["genetic", "random"]))
        .with(played)
}

fn report() -> Report {
    let mut report = text::tests::report();
    // An axis with the name of a column, and one of a player.
    report.axes = ["score", "player.nodes"].map(str::to_owned).into();
    let cells = report.cells.iter_mut().map(|cell| &mut cell.axes);
    let moves = report.moves.iter_mut().chain(&mut report.depths).map(|moves| &mut moves.axes);
    cells.chain(moves).for_each(|axes| axes.push(Some("10".to_owned())));
    for (cell, id) in report.cells.iter_mut().zip(1..) {
        cell.cell = CellId(id);
    }
    let interval = Some(Interval { value: 2.5, low: 1.0 / 3.0, high: 5.0 });
    let [first, second, third, last] = &mut report.cells[..] else { panic!("four cells") };
    first.margin = Some(CellMargin { games: 90, mean: OverGames { value: 2.5, interval } });
    first.openings = Some(OpeningSpread { effective: 7.5, variance: 0.05 });
    first.first_mover = Some(ScoreInterval { score: 0.54, low: 0.5, high: 0.58 });
    (first.games_failed, second.games_failed) = (10, 0);
    second.margin =
        Some(CellMargin { games: 1, mean: OverGames { value: -0.001, interval: None } });
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    let stop = |stopped_after| {
        Some(CellStop { rule: StopRule::Sprt(sprt), games_max: 2_000, stopped_after })
    };
    (first.stop, second.stop, third.stop) = (stop(Some(200)), stop(None), stop(None));
    last.is_self_play = true;
    report.replayed = vec![ReplayedGames { cell: CellId(2), games: 3 }];
    report.moves[0].costs.overruns =
        Some(Overruns { limit_us: 10_000, beyond_us: 11_264, moves: 1, longest_us: 98_304.0 });
    let disturbed = |cell, replayed, half_points_before| DisturbedGames {
        cell: CellId(cell),
        games: 5,
        replayed,
        half_points_before,
    };
    report.disturbed = vec![disturbed(1, 6, -3), disturbed(3, 0, 0)];
    report.played_on = Some(PlayedOn { quiet: 7, others: 2, unknown: 1 });
    report.scaled.scaling = Some(Scaling { reference: 2_500_000, factor_max_permille: 4_000 });
    report.scaled.cells = vec![ScaledGames {
        cell: CellId(1),
        games: 20,
        games_at_bound: 1,
        factor_permille_min: 980,
        factor_permille_max: 4_000,
    }];
    report.engines.forfeits = [("alphabeta", [1, 2, 0, 0]), ("genetic", [64, 0, 0, 1])]
        .map(|(player, by_kind)| PlayerForfeits { player: player.to_owned(), games: 400, by_kind })
        .into();
    report.engines.engines = [("Some Engine 1.0", Some("1a2b3c4d5e6f7081")), ("", None)]
        .map(|(name, build)| UsedEngine {
            player: "genetic".to_owned(),
            engine: EngineIdentity {
                name: name.to_owned(),
                author: "an author, or two".to_owned(),
                sha256: [7; 32],
            },
            build: build.map(str::to_owned),
            cells: 2,
            games: 100,
        })
        .into();
    report.engines.mixed =
        vec![MixedCell { cell: CellId(2), player: "genetic".to_owned(), programs: 2 }];
    report.claims = claims();
    report.description = "Who is stronger?".to_owned();
    report.engine_revision = Some(3);
    report
}

fn claims() -> Vec<StatedClaim> {
    let claim = |text: &str, score, is_late, cells: &[(i64, Role)]| StatedClaim {
        text: text.to_owned(),
        statement: Statement {
            player: "alphabeta".to_owned(),
            opponent: Some("genetic".to_owned()),
            at: vec![("score".to_owned(), vec!["1".to_owned(), "2".to_owned()])],
            about: About::Score(score),
            than: None,
            over: None,
            quantifier: Quantifier::Every,
            error_rate: 0.05,
        },
        hash: DefinitionHash([9; 32]),
        is_late,
        in_sweep: !is_late,
        stop_rule: None,
        cells: cells
            .iter()
            .map(|&(cell, player)| StatedCell { cell: CellId(cell), player, games: 100 })
            .collect(),
        estimates: Vec::new(),
        means: Vec::new(),
        leads: Vec::new(),
    };
    vec![
        claim("it wins", Bound::Above(0.5), false, &[(4, Role::Opponent), (99, Role::Player)]),
        claim("it loses", Bound::Below(0.4), false, &[(4, Role::Player)]),
        claim("it wins, too", Bound::Above(0.5), true, &[(1, Role::Player), (2, Role::Player)]),
    ]
}

/// Answers about runs of this kind.
fn runs(kind: CourseKind) -> Answers {
    let value = |number: u64| AxisValue::from_integer(number);
    let estimate = |parameter: &str, number, interval| Estimate {
        parameter: parameter.to_owned(),
        value: value(number),
        interval,
    };
    let score = |score| SettingsScore { games: 200, score, low: score - 0.1, high: score + 0.1 };
    let run = |number, place: &str| RunResult {
        run: number,
        begun: Begun {
            kind,
            player: "alphabeta".to_owned(),
            opponents: ["genetic", "random"].map(str::to_owned).into(),
            axes: vec![Place {
                axis: "score".to_owned(),
                value: AxisValue { number: None, text: place.to_owned() },
            }],
            start: vec![Setting { parameter: "depth".to_owned(), value: value(3) }],
        },
        steps: 12,
        estimates: Vec::new(),
        confirmed: None,
        ended: false,
        player_json: None,
        evolution: None,
        race: None,
    };
    let (mut first, mut second, mut third) = (run(0, "a,b"), run(1, "a,b"), run(2, "c"));
    if kind == CourseKind::Evolve {
        first.evolution = Some(evolution(0.5));
        second.evolution = Some(evolution(0.625));
    } else if kind == CourseKind::Race {
        first.race = Some(standings(Some("alphabeta")));
        first.ended = true;
        second.race = Some(standings(None));
        third.race = Some(standings(None));
    } else {
        let bounds = |low: Option<u64>, high: Option<u64>| {
            Some(Bounds { low: low.map(value), high: high.map(value) })
        };
        first.estimates =
            vec![estimate("depth", 5, bounds(Some(4), None)), estimate("nodes", 70, None)];
        first.ended = true;
        first.confirmed = Some(Confirmed { found: score(0.625), start: Some(score(0.5)) });
        third.estimates = vec![estimate("depth", 3, bounds(Some(2), Some(7)))];
    }
    third.ended = true;
    let report =
        Report { runs: vec![first, second, third], claims: Vec::new(), ..text::tests::report() };
    let report = Report { axes: vec!["score".to_owned()], ..report };
    Answers::default().with(report)
}

/// Of three players, one of which is out.
fn standings(first: Option<&str>) -> RaceStandings {
    let runner = |player: &str, points: f64, out_after| Runner {
        player: player.to_owned(),
        games: 240,
        score: Some(0.625 - points),
        behind: (points > 0.0).then_some(Behind { points, low: points - 0.0625, high: 0.5 }),
        out_after,
        out_by: out_after.map(|_| "alphabeta".to_owned()),
    };
    RaceStandings {
        rounds_max: 100,
        error_rate: 0.05,
        within: 0.02,
        first: first.map(str::to_owned),
        players: vec![
            runner("random", 0.25, Some(7)),
            runner("minimax", 0.03125, None),
            runner("alphabeta", 0.0, None),
        ],
    }
}

fn evolution(best: f64) -> Evolution {
    let generation = |generation: f64| Generation {
        individuals: 20,
        measured: 19,
        best_individual: 7,
        best: Some(best + generation / 30.0),
        mean: Some(0.4),
        least: None,
        sd: Some(0.125),
        distinct: 18,
        mean_size: 9.5,
        mean_depth: 3.25,
    };
    let relative = |generation, parents: &[u64], operator: &str| Relative {
        generation,
        index: 7,
        individual: Individual {
            formula: "(+ a (* 1 b))".to_owned(),
            simplified: "(+ a b)".to_owned(),
            size: 5,
            depth: 2,
            operator: operator.to_owned(),
            parents: parents.into(),
        },
        fitness: (generation > 0).then_some(best),
    };
    Evolution {
        generations: (0..13).map(|number| generation(f64::from(number))).collect(),
        family: vec![
            relative(2, &[3, 5], "crossover"),
            relative(1, &[7], spelrum_answers::ELITE),
            relative(0, &[], "grow"),
        ],
    }
}

/// Answers about choices, in positions at different distances from the start.
fn choices() -> Answers {
    let figure = |value: f64| choice::Estimate {
        value,
        interval: Some(Interval { value, low: value / 3.0, high: value * 1.1 }),
    };
    let accuracy = |cell, plies, random_best, wins| CellAccuracy {
        cell: CellId(cell),
        reference: if cell == 1 { "exact" } else { "minimax to depth 4 by runs" }.to_owned(),
        plies,
        accuracy: choice::Accuracy {
            positions: 120,
            best: figure(0.75),
            rank: figure(2.5),
            loss: figure(12.0),
            random_best,
            random_rank: 6.0,
            random_loss: 40.0,
            best_skill: figure(0.6),
            rank_skill: figure(0.5),
            loss_skill: choice::Estimate { value: 0.7, interval: None },
            wins,
        },
    };
    let wins =
        choice::WinsKept { positions: 40, share: figure(0.9), random: 0.25, skill: figure(0.8) };
    let report = report();
    let mut experiment = report.experiment.clone();
    experiment.task = Task::Choice;
    let report = Report {
        experiment,
        accuracy: vec![
            accuracy(1, None, 0.2, Some(wins)),
            accuracy(1, Some(4), 0.2, Some(wins)),
            accuracy(1, Some(8), 0.2, None),
            accuracy(2, None, 0.25, None),
            accuracy(99, None, 0.25, None),
        ],
        claims: Vec::new(),
        ..report
    };
    games().without::<Ratings>().without::<Comparisons>().with(report)
}

/// Answers in which nothing is to be shown.
fn nothing() -> Answers {
    let mut answers = games();
    answers.change(|report: &mut Report| {
        report.cells.clear();
        report.moves.clear();
        report.depths.clear();
        report.disturbed.clear();
        report.claims.clear();
        report.engines = Default::default();
    });
    answers.change(|ratings: &mut Ratings| ratings.groups.clear());
    answers.change(|compared: &mut Comparisons| {
        compared.differences.clear();
        compared.effects.clear();
        compared.curves.clear();
        compared.replicates.clear();
    });
    answers.change(|phases: &mut Phases| phases.cells.clear());
    answers.change(|lengths: &mut OutcomeLengths| lengths.cells.clear());
    answers.change(|overview: &mut Overview| {
        overview.cells.clear();
        overview.workers.clear();
        overview.worker_effects.clear();
    });
    answers
}

/// The results by cell of a sweep that names an axis of replicates.
fn replicates() -> Answers {
    let replicated = Some(replicated::tests::replicated());
    Answers::default().with(Report { replicated, ..report() })
}

fn all() -> [(&'static str, Answers); 8] {
    [
        ("games", games()),
        ("find", runs(CourseKind::Find)),
        ("tune", runs(CourseKind::Tune)),
        ("evolve", runs(CourseKind::Evolve)),
        ("race", runs(CourseKind::Race)),
        ("choices", choices()),
        ("nothing", nothing()),
        ("replicates", replicates()),
    ]
}

fn written(answers: &Answers, shown: Shown, format: ReportFormat) -> String {
    let experiment = &answers.get::<Report>().unwrap().experiment;
    if let Err(error) = Needs::new(experiment, shown, format, None) {
        return format!("{error}\n");
    }
    let mut out = Vec::new();
    match write(experiment, shown, format, &TableStyle::default(), answers, &mut out) {
        Ok(()) => anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string(),
        Err(error) => format!("{error}\n"),
    }
}

/// Every table by its name, and what is shown without a name.
fn tables(answers: &Answers, format: ReportFormat) -> String {
    let shown = [Shown::Usual, Shown::WithDepths, Shown::Ratings, Shown::Compared, Shown::Phases];
    let named = TableName::value_variants().iter().map(|&name| Shown::Table(name));
    let texts = shown.into_iter().chain(named).map(|shown| {
        let text = written(answers, shown, format);
        let name = match shown {
            Shown::Table(name) => name.to_possible_value().unwrap().get_name().to_owned(),
            Shown::Usual | Shown::WithDepths | Shown::Ratings | Shown::Compared | Shown::Phases => {
                format!("{shown:?}")
            }
        };
        format!("## {name}\n{text}")
    });
    // Insta ends lines in its own way.
    texts.collect::<Vec<_>>().join("\n").replace("\r\n", "⏎\n")
}

#[test]
fn every_table_stays_as_rows() {
    for (name, answers) in all() {
        insta::assert_snapshot!(format!("{name}_csv"), tables(&answers, ReportFormat::Csv));
    }
}

#[test]
fn every_table_stays_as_text() {
    for (name, answers) in all() {
        insta::assert_snapshot!(format!("{name}_text"), tables(&answers, ReportFormat::Text));
    }
}

#[test]
fn all_keys_and_digits_stay_as_json() {
    for (name, answers) in all() {
        let json = written(&answers, Shown::Usual, ReportFormat::Json);
        insta::assert_snapshot!(format!("{name}_json"), json);
    }
}

/// Headings and columns of a page, in their order; its rows are those of the text.
#[test]
fn the_order_of_pages_stays() {
    for (name, answers) in all() {
        let page = written(&answers, Shown::WithDepths, ReportFormat::Html);
        let texts = page.split('<').filter_map(|tag| {
            let (tag, text) = tag.split_once('>')?;
            let tag = tag.split(' ').next()?;
            ["h1", "h2", "h3", "caption", "th"].contains(&tag).then(|| format!("{tag} {text}"))
        });
        insta::assert_snapshot!(format!("{name}_page"), texts.collect::<Vec<_>>().join("\n"));
    }
}

/// As match runners print it.
#[test]
fn every_match_stays_as_a_block() {
    let blocks = all().into_iter().map(|(name, answers)| {
        format!("## {name}\n{}", written(&answers, Shown::Usual, ReportFormat::Match))
    });
    insta::assert_snapshot!(blocks.collect::<Vec<_>>().join("\n"));
}
