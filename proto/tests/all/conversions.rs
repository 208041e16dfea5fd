//! Attacks the conversions: messages round-trip, and malformed ones are refused with the field's
//! name, never with a panic (invariants 9, 10).

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use spelrum_answers::{CpuQuota, Machine};
use spelrum_engine::games::pentago::BOTH_FIVE;
use spelrum_engine::{
    ENGINE_REVISION, EndedBy, GameRecord, MoveRecord, Outcome, Remarks, SearchDetails,
    SearchReport, Side,
};
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::speed::{ScaledTime, Scaling};
use spelrum_model::{CellId, DefinitionHash, DerivedGame, GameId, GameRange, LeaseId, PlayedGame};
use spelrum_proto::limits::{
    FAILURE_BYTES_MAX, LEASE_DEFINITIONS_BYTES_MAX, LEASE_RANGES_MAX, LEASES_MAX,
    LOGICAL_CORES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, NUMBER_MAX, PLIES_MAX,
    REPORT_RESULTS_MAX,
};
use spelrum_proto::work::{self, Grant, LeasedGames, ReportedWhat};
use spelrum_proto::{Fault, WireError, game, v1};

fn remarks() -> Remarks {
    let distribution = [("a1".to_owned(), 900_000), ("c3 TL+".to_owned(), 100_000)];
    let details = SearchDetails {
        seldepth: Some(0),
        hashfull: Some(1_000),
        tbhits: Some(NUMBER_MAX),
        pv: "a1 c3".to_owned(),
    };
    Remarks {
        note: "why:\nit wins".to_owned(),
        distribution: distribution.into(),
        refused: 2,
        details,
    }
}

fn record() -> GameRecord {
    let mv = |mover, mv: &str, score, ended_by| MoveRecord {
        mover,
        mv: mv.to_owned(),
        position_key: NUMBER_MAX,
        legal_moves: 288,
        search: SearchReport {
            depth: 4,
            nodes: 1 << 40,
            evaluations: 7,
            full_tree_leaves: NUMBER_MAX,
            score,
            ended_by,
            told_us: score.map(|_| 77),
        },
        wall_us: 1,
        cpu_us: 0,
        involuntary_switches: score.map(|_| NUMBER_MAX),
        remarks: score.map(|_| Box::new(remarks())),
    };
    GameRecord {
        first_side: Side::Second,
        outcome: Outcome::Loss,
        margin: Some(-14),
        termination: BOTH_FIVE,
        moves: vec![
            mv(0, "a1", Some(-5), EndedBy::Time),
            mv(1, "c3 TL+", Some(i32::MAX), EndedBy::OnlyMove),
            mv(0, "b2", None, EndedBy::Depth),
            mv(0, "b3", Some(i32::MIN), EndedBy::Proven),
        ],
        wall_us: 12,
    }
}

fn wire_game() -> v1::Game {
    let id = GameId { cell: CellId(3), number: 41 };
    let derived = DerivedGame {
        opening: Arc::from("the start"),
        first_player_moves_first: false,
        keys: [[0; 32]; 2],
    };
    let identity =
        EngineIdentity { name: "Fish 15.1".to_owned(), author: String::new(), sha256: [0xab; 32] };
    let forfeit = Forfeit { message: "it ended".to_owned(), output: "> go\n< \n".to_owned() };
    let played = PlayedGame::new(id, &derived, record(), 1_700_000_000_000_000);
    let scaled = ScaledTime { factor_permille: 1_250, nodes_per_second: 1_600_000 };
    let played = played.with_engines([None, Some(identity)], Some(forfeit));
    game::to_wire(played.with_scaled(Some(scaled)))
}

#[test]
fn a_game_comes_back_as_it_went() {
    let wire = wire_game();
    assert_eq!(wire.engine_revision, ENGINE_REVISION);
    assert_eq!(wire.opening, "the start");
    assert_eq!(wire.moves_hash, record().moves_hash());
    let back = game::from_wire(wire.clone()).unwrap();
    assert_eq!(back.game, GameId { cell: CellId(3), number: 41 });
    assert_eq!(back.record, record());
    assert!(back.engines[0].is_none() && back.engines[1].is_some() && back.forfeit.is_some());
    assert_eq!(game::to_wire(back), wire);
}

#[test]
fn a_lease_comes_back_as_it_went() {
    let grant = Grant {
        lease: LeaseId(9),
        duration: Duration::from_secs(60),
        games: vec![
            LeasedGames {
                range: GameRange { cell: CellId(1), first: 0, count: 2 },
                definition: DefinitionHash([7; 32]),
                game_timeout: None,
                name_before_play: true,
                timed: false,
                scaling: None,
            },
            LeasedGames {
                range: GameRange { cell: CellId(2), first: 1 << 40, count: 1 },
                definition: DefinitionHash([8; 32]),
                game_timeout: Some(Duration::from_millis(1)),
                name_before_play: false,
                timed: true,
                scaling: Some(Scaling { reference: 2_000_000, factor_max_permille: 4_000 }),
            },
        ],
    };
    assert_eq!(Grant::try_from(v1::Grant::from(grant.clone())), Ok(grant));
}

#[test]
fn definitions_sent_with_a_lease_are_bounded() {
    let cell = |hash: &[u8], bytes| v1::LeasedCell {
        definition_hash: hash.to_vec(),
        cell: Some(v1::GetCellResponse {
            definition_json: "x".repeat(bytes),
            openings_hash: Vec::new(),
        }),
    };
    let half = LEASE_DEFINITIONS_BYTES_MAX / 2;
    let read = work::leased_cells(vec![cell(&[1; 32], half), cell(&[2; 32], half)]).unwrap();
    assert_eq!(read[1].0, DefinitionHash([2; 32]));
    assert_eq!(read[1].1.definition_json.len(), half);
    let field = |cells| work::leased_cells(cells).unwrap_err().field;
    let too_long = vec![cell(&[1; 32], half), cell(&[2; 32], half), cell(&[3; 32], 1)];
    assert_eq!(field(too_long), "cells[2].cell.definition_json");
    assert_eq!(field(vec![cell(&[1; 31], 1)]), "cells[0].definition_hash");
    let missing = v1::LeasedCell { definition_hash: vec![1; 32], cell: None };
    assert_eq!(field(vec![missing]), "cells[0].cell");
    let many = vec![cell(&[1; 32], 0); LEASE_RANGES_MAX + 1];
    assert_eq!(field(many), "cells");
}

/// Every way to spoil a well-formed game, with the field that must be named.
#[test]
fn malformed_games_are_refused_by_field() {
    type Spoil = fn(&mut v1::Game);
    let spoils: &[(&str, Spoil)] = &[
        ("cell_id", |game| game.cell_id = 0),
        ("cell_id", |game| game.cell_id = -1),
        ("cell_id", |game| game.cell_id = 1 << 53),
        ("number", |game| game.number = 1 << 53),
        ("engine_revision", |game| game.engine_revision = 0),
        ("opening", |game| game.opening = "x".repeat(5_000)),
        ("opening", |game| game.opening.clear()),
        ("opening", |game| game.opening = "a\0b".to_owned()),
        ("first_side", |game| game.first_side = 0),
        ("first_side", |game| game.first_side = 3),
        ("outcome", |game| game.outcome = 0),
        ("outcome", |game| game.outcome = 99),
        ("margin", |game| game.margin = Some(10_001)),
        ("margin", |game| game.margin = Some(-10_001)),
        ("margin", |game| game.margin = Some(i32::MIN)),
        ("termination", |game| game.termination = "boredom".to_owned()),
        ("moves_hash", |game| game.moves_hash = u64::MAX),
        ("started_unix_us", |game| game.started_unix_us = -1),
        ("started_unix_us", |game| game.started_unix_us = i64::MAX),
        ("wall_us", |game| game.wall_us = 1 << 53),
        ("moves", |game| game.moves = vec![game.moves[0].clone(); PLIES_MAX + 1]),
        ("moves[2].mover", |game| game.moves[2].mover = 2),
        ("moves[1].move", |game| game.moves[1].r#move.clear()),
        ("moves[1].move", |game| game.moves[1].r#move = "m".repeat(65)),
        ("moves[0].position_key", |game| game.moves[0].position_key = 1 << 53),
        ("moves[0].nodes", |game| game.moves[0].nodes = 1 << 53),
        ("moves[0].evaluations", |game| game.moves[0].evaluations = 1 << 53),
        ("moves[0].full_tree_leaves", |game| game.moves[0].full_tree_leaves = 1 << 53),
        ("moves[0].wall_us", |game| game.moves[0].wall_us = 1 << 53),
        ("moves[3].cpu_us", |game| game.moves[3].cpu_us = 1 << 53),
        ("moves[3].involuntary_switches", |game| {
            game.moves[3].involuntary_switches = Some(1 << 53)
        }),
        ("scaled.factor_permille", |game| game.scaled.as_mut().unwrap().factor_permille = 0),
        ("scaled.nodes_per_second", |game| game.scaled.as_mut().unwrap().nodes_per_second = 0),
        ("moves[3].ended_by", |game| game.moves[3].ended_by = "magic".to_owned()),
    ];
    for (field, spoil) in spoils {
        let mut game = wire_game();
        spoil(&mut game);
        let error = game::from_wire(game.clone()).unwrap_err();
        assert_eq!(&error.field, field);
        for (kind, what) in [
            ("game", v1::result::What::Game(game.clone())),
            ("verification", v1::result::What::Verification(game)),
        ] {
            let wrapped = v1::Result { lease_id: 1, what: Some(what) };
            let error = work::results(vec![wrapped]).unwrap_err();
            assert_eq!(error.field, format!("results[0].{kind}.{field}"));
            assert!(error.to_string().len() < 300, "{error}");
        }
    }
}

#[test]
fn malformed_reports_are_refused_by_field() {
    let result = |lease_id, what| v1::Result { lease_id, what };
    let failed = |cell_id, message: &str| {
        Some(v1::result::What::FailedGame(v1::FailedGame {
            cell_id,
            number: 0,
            engine_revision: 1,
            message: message.to_owned(),
        }))
    };
    let error = |results| work::results(results).unwrap_err();

    let missing = error(vec![result(1, None)]);
    assert_eq!(missing, WireError { field: "results[0].what".to_owned(), fault: Fault::Missing });
    let lease = error(vec![result(1, failed(1, "")), result(0, failed(1, ""))]);
    assert_eq!(lease.field, "results[1].lease_id");
    assert_eq!(error(vec![result(1, failed(0, ""))]).field, "results[0].failed_game.cell_id");
    let long = "x".repeat(FAILURE_BYTES_MAX + 1);
    assert_eq!(error(vec![result(1, failed(1, &long))]).field, "results[0].failed_game.message");
    let many = vec![result(1, failed(1, "")); REPORT_RESULTS_MAX + 1];
    assert!(matches!(error(many).fault, Fault::TooMany { .. }));

    let read = work::results(vec![result(5, failed(1, "out of marbles"))]).unwrap();
    assert_eq!(read[0].lease, LeaseId(5));
    assert_eq!(
        read[0].what,
        ReportedWhat::Failed { engine_revision: 1, message: "out of marbles".to_owned() }
    );
}

#[test]
fn malformed_ids_hashes_and_grants_are_refused() {
    assert_eq!(work::definition_hash(&[0; 31]).unwrap_err().fault, Fault::NotAHash { bytes: 31 });
    assert!(work::definition_hash(&[0; 32]).is_ok());
    assert!(work::caller(0, 1).is_err() && work::caller(1, 0).is_err());
    assert!(work::lease_ids(&[1, -1]).is_err());
    assert!(work::lease_ids(&vec![1; LEASES_MAX + 1]).is_err());
    assert!(work::playing(&[v1::GameId { cell_id: 1, number: 1 << 53 }]).is_err());
    assert!(work::slots(0).is_err() && work::slots(5_000).is_err() && work::slots(2).is_ok());

    let of_timeout = |first_number, count, definition_hash, game_timeout_ms| {
        let cell_id = 1;
        let games = v1::LeasedGames {
            cell_id,
            definition_hash,
            first_number,
            count,
            game_timeout_ms,
            ..v1::LeasedGames::default()
        };
        v1::Grant { lease_id: 1, duration_ms: 1, games: vec![games] }
    };
    let leased = |first_number, count, hash| of_timeout(first_number, count, hash, 0);
    assert!(Grant::try_from(leased(0, 1, vec![0; 32])).is_ok());
    for grant in [
        leased(0, 0, vec![0; 32]),
        leased(NUMBER_MAX, 1, vec![0; 32]),
        leased(1, NUMBER_MAX, vec![0; 32]),
        leased(0, u64::MAX, vec![0; 32]),
        leased(0, 1, Vec::new()),
        of_timeout(0, 1, vec![0; 32], NUMBER_MAX + 1),
    ] {
        assert!(Grant::try_from(grant.clone()).is_err(), "{grant:?}");
    }

    let hello = |worker_uuid: &str, name: &str, slots| v1::HelloRequest {
        worker_uuid: worker_uuid.to_owned(),
        name: name.to_owned(),
        host: "host".to_owned(),
        version: "0".to_owned(),
        slots,
        ..Default::default()
    };
    let uuid = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    assert!(work::check_hello(&hello(uuid, "name", 1)).is_ok());
    assert_eq!(work::check_hello(&hello("me", "name", 1)).unwrap_err().fault, Fault::NotAUuid);
    assert_eq!(work::check_hello(&hello(uuid, "", 1)).unwrap_err().fault, Fault::NotPlainText);
    assert_eq!(work::check_hello(&hello(uuid, "a\nb", 1)).unwrap_err().field, "name");
    assert_eq!(work::check_hello(&hello(uuid, "name", 0)).unwrap_err().field, "slots");
    let of_machine = |cpu_model: &str, logical_cores| v1::HelloRequest {
        cpu_model: cpu_model.to_owned(),
        logical_cores,
        ..hello(uuid, "name", 1)
    };
    assert_eq!(work::machine(&of_machine("", 0)), Ok(Machine::default()), "it need not say");
    let machine = work::machine(&of_machine("A Processor", 8)).unwrap();
    assert_eq!((&*machine.cpu_model, machine.logical_cores), ("A Processor", Some(8)));
    let (quiet_slots, cpu_period_us) = (Some(0), 100_000);
    let limited = v1::HelloRequest { quiet_slots, cpu_period_us, ..of_machine("", 1) };
    let machine =
        work::machine(&v1::HelloRequest { cpu_quota_us: 250_000, ..limited.clone() }).unwrap();
    assert_eq!((machine.quiet_slots, machine.cpu_quota.map(CpuQuota::cpus)), (Some(0), Some(2.5)));
    assert_eq!(work::machine(&limited).unwrap().cpu_quota, None, "a period alone is no limit");
    for (malformed, field) in [
        (of_machine("a\nb", 1), "cpu_model"),
        (of_machine("", LOGICAL_CORES_MAX + 1), "logical_cores"),
        (of_machine(&"x".repeat(NAME_BYTES_MAX + 1), 1), "cpu_model"),
        (
            v1::HelloRequest { operating_system: "\0".to_owned(), ..of_machine("", 1) },
            "operating_system",
        ),
        (v1::HelloRequest { build_commit: "\t".to_owned(), ..of_machine("", 1) }, "build_commit"),
        (v1::HelloRequest { build_profile: "\r".to_owned(), ..of_machine("", 1) }, "build_profile"),
        (v1::HelloRequest { cores: "\n".to_owned(), ..of_machine("", 1) }, "cores"),
        (v1::HelloRequest { quiet_slots: Some(2), ..of_machine("", 1) }, "quiet_slots"),
        (v1::HelloRequest { cpu_quota_us: 1 << 53, ..of_machine("", 1) }, "cpu_quota_us"),
        (v1::HelloRequest { cpu_period_us: 1 << 53, ..of_machine("", 1) }, "cpu_period_us"),
    ] {
        assert_eq!(work::check_hello(&malformed).unwrap_err().field, field);
    }
}

/// A game of the greatest length fits into one message, with ordinary notation.
#[test]
fn the_longest_game_fits_into_a_message() {
    use prost::Message as _;
    let mut game = wire_game();
    game.moves = vec![game.moves[1].clone(); PLIES_MAX];
    assert!(game::check(&game).is_ok());
    assert!(game.encoded_len() < MESSAGE_BYTES_MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Parsing any bytes ends in a value or an error.
    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use prost::Message as _;
        if let Ok(report) = v1::ReportRequest::decode(bytes.as_slice()) {
            let _ = work::results(report.results);
        }
        if let Ok(grant) = v1::Grant::decode(bytes.as_slice()) {
            let _ = Grant::try_from(grant);
        }
    }

    /// Nor does one changed byte of a well-formed report; accepted messages obey the bounds.
    #[test]
    fn a_changed_byte_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        use prost::Message as _;
        let result =
            v1::Result { lease_id: 1, what: Some(v1::result::What::Game(wire_game())) };
        let report = v1::ReportRequest {
            worker_id: 1,
            coordinator_epoch: 1,
            results: vec![result],
            worker_secret: Vec::new(),
        };
        let mut bytes = report.encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(report) = v1::ReportRequest::decode(bytes.as_slice())
            && let Ok(read) = work::results(report.results)
        {
            for result in read {
                prop_assert!((1..1 << 53).contains(&result.lease.0));
                prop_assert!(result.game.number <= NUMBER_MAX);
                if let ReportedWhat::Played(played) = result.what {
                    prop_assert_eq!(played.check(), Ok(()));
                    prop_assert!(game::check(&game::to_wire(played)).is_ok());
                }
            }
        }
    }
}
