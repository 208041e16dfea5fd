//! Engines that fail before they play.

use spelrum_external::{
    AllowedOption, Breach, BreachKind, Engine, EngineSpec, Exit, FailureKind, Guard, OptionRule,
    OptionValue, Options, Phase,
};

use crate::harness::{
    PROGRAM, SHORT, choose, guard, limits, never, new_game, playing, spec, start, start_failure,
};

#[test]
fn an_engine_says_who_it_is() {
    let engine = start(&spec("uci", &[])).unwrap();
    let identity = engine.identity();
    assert_eq!((identity.name.as_str(), identity.author.as_str()), ("Scripted 1.0", "nobody"));
    assert_eq!(identity.sha256_hex().len(), 64);
    engine.close();
}

#[test]
fn an_engine_that_is_missing_is_said() {
    let mut missing = spec("uci", &[]);
    missing.command = "/no/such/engine".into();
    let failure = start_failure(&missing);
    assert_eq!(failure.to_string(), "scripted: there is no program /no/such/engine");
    assert!(failure.is_startup_failure());
}

#[test]
fn an_engine_that_cannot_be_run_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut plain = spec("uci", &[]);
    plain.command = folder.path().join("engine");
    std::fs::write(&plain.command, "hello").unwrap();
    let failure = start_failure(&plain).to_string();
    assert!(failure.contains("engine cannot be run: Permission denied"), "{failure}");
}

/// That it can be run is known only when it is tried.
#[test]
fn a_script_without_an_interpreter_ends_at_once_with_the_reason() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mut broken = spec("uci", &[]);
    broken.command = folder.path().join("engine");
    std::fs::write(&broken.command, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&broken.command, PermissionsExt::from_mode(0o755)).unwrap();
    let failure = start_failure(&broken);
    assert_eq!(failure.kind, FailureKind::Crash(Exit::Code(127)));
    assert!(failure.is_startup_failure());
    assert!(failure.transcript.contains("! guard: "), "{}", failure.transcript);
    assert!(failure.transcript.contains("No such file or directory"), "{}", failure.transcript);
}

#[test]
fn a_directory_that_is_missing_is_said() {
    let mut lost = spec("uci", &[]);
    lost.directory = "/no/such/place".into();
    assert_eq!(
        start_failure(&lost).to_string(),
        "scripted: no process could be started: there is no directory /no/such/place"
    );
}

#[test]
fn an_engine_that_does_not_greet_is_given_up() {
    for word in ["no-uciok", "silent", "deaf"] {
        let mut mute = spec("uci", &[word]);
        mute.patience.startup = SHORT;
        let failure = start_failure(&mute);
        let within = SHORT;
        let asked = "uci".to_owned();
        assert_eq!(
            failure.kind,
            FailureKind::NoAnswer { asked, awaited: "uciok".to_owned(), within },
            "{word}"
        );
        assert!(failure.transcript.starts_with("> uci\n"), "{}", failure.transcript);
    }
}

#[test]
fn an_engine_that_never_is_ready_is_given_up() {
    let mut unready = spec("uci", &["unready-for-games"]);
    unready.patience.ready = SHORT;
    let failure = new_game(&mut start(&unready).unwrap()).unwrap_err();
    let [asked, awaited] = ["isready", "readyok"].map(str::to_owned);
    assert_eq!(failure.kind, FailureKind::NoAnswer { asked, awaited, within: SHORT });
}

#[test]
fn an_engine_that_takes_its_time_is_waited_for() {
    let mut engine = playing(&spec("uci", &["slow-readyok"]));
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "e2e4");
}

#[test]
fn an_engine_that_ends_at_once_is_known_by_what_it_said() {
    let failure = start_failure(&spec("uci", &["dies-at-start"]));
    assert_eq!((&failure.kind, failure.during), (&FailureKind::Crash(Exit::Code(3)), Phase::Start));
    assert!(failure.is_startup_failure());
    assert_eq!(failure.to_string(), "scripted: it ended (exit status 3) while it was starting");
    assert!(failure.transcript.contains("! fatal: there is no net\n"), "{}", failure.transcript);
}

#[test]
fn garbage_and_megabytes_are_passed_over() {
    let mut engine = start(&spec("uci", &["garbage", "megabytes"])).unwrap();
    let kinds: Vec<_> = engine.take_breaches().iter().map(|breach| breach.kind).collect();
    assert_eq!(kinds, [BreachKind::LongLine]);
    assert_eq!(engine.identity().name, "Scripted 1.0");
}

#[test]
fn options_are_set_in_the_order_that_engines_need() {
    let mut chosen = spec("uci", &[]);
    chosen.options.extend([
        AllowedOption { name: "clear hash".into(), rule: OptionRule::Press, command: None },
        AllowedOption {
            name: "Style".into(),
            rule: OptionRule::OneOf(vec![OptionValue::Text("Fail High".into())]),
            command: None,
        },
    ]);
    chosen.set = [("Debug Log File".to_owned(), OptionValue::Text(String::new()))].into();
    let options: Options = [
        ("multipv".to_owned(), OptionValue::Number(2)),
        ("Clear Hash".to_owned(), OptionValue::Flag(true)),
        ("Hash".to_owned(), OptionValue::Number(64)),
        ("Style".to_owned(), OptionValue::Text("Fail High".into())),
        ("Threads".to_owned(), OptionValue::Number(1)),
    ]
    .into();
    let engine = Engine::start(&chosen, &options, &guard(), &never).unwrap();
    let transcript = engine.transcript();
    let sent: Vec<_> = transcript.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(
        sent,
        [
            "uci",
            "setoption name Threads value 1",
            "setoption name Hash value 64",
            // A text may be empty, and then ends with the blank before it.
            "setoption name Debug Log File value ",
            "setoption name Style value Fail High",
            "setoption name Clear Hash",
            "setoption name MultiPV value 2",
            "isready",
        ]
    );
}

#[test]
fn an_engine_takes_one_thread_unless_it_is_set_otherwise() {
    let thread_settings = |spec: &EngineSpec, options: &Options| {
        let transcript = Engine::start(spec, options, &guard(), &never).unwrap().transcript();
        let mut settings =
            transcript.lines().filter_map(|line| line.strip_prefix("> setoption name "));
        (settings.next().map(str::to_owned), settings.count())
    };
    let mut greedy = spec("uci", &["greedy"]);
    let one_thread = (Some("Threads value 1".to_owned()), 0);
    assert_eq!(thread_settings(&greedy, &Options::new()), one_thread);
    assert_eq!(
        thread_settings(&greedy, &[("threads".to_owned(), OptionValue::Number(1))].into()),
        one_thread
    );
    greedy.set = [("Threads".to_owned(), OptionValue::Number(2))].into();
    assert_eq!(thread_settings(&greedy, &Options::new()), (Some("Threads value 2".to_owned()), 0));
    assert_eq!(thread_settings(&spec("uci", &[]), &Options::new()), (None, 0));
}

#[test]
fn options_that_the_engine_lacks_or_takes_otherwise_are_said() {
    let failure = |name: &str, rule, value: OptionValue| {
        let mut chosen = spec("uci", &[]);
        chosen.options = vec![AllowedOption { name: name.into(), rule, command: None }];
        let options = [(name.to_owned(), value)].into();
        Engine::start(&chosen, &options, &guard(), &never).unwrap_err().to_string()
    };
    let any = || OptionRule::Between { min: 0, max: 9_999 };
    assert_eq!(
        failure("Contempt", any(), OptionValue::Number(3)),
        "scripted: option `Contempt`: the engine has none of this name"
    );
    assert_eq!(
        failure("Hash", any(), OptionValue::Number(2_048)),
        "scripted: option `Hash`: the engine takes it otherwise: \
         `2048` is no whole number from 1 to 1024"
    );
    assert_eq!(
        failure("Style", any(), OptionValue::Text("Solid".into())),
        "scripted: engine `scripted` does not allow `options.Style = \"Solid\"`; \
         set it to a whole number from 0 to 9999"
    );
}

#[test]
fn an_engine_gets_a_clean_place_and_no_descriptor_of_ours() {
    // Ours are open meanwhile: of files, and of other engines.
    let _file = std::fs::File::open("/proc/self/status").unwrap();
    let _other = start(&spec("uci", &[])).unwrap();
    let mut engine = playing(&spec("uci", &["tells-descriptors", "tells-surroundings"]));
    choose(&mut engine, limits()).unwrap();
    let transcript = engine.transcript();
    let line = transcript.lines().find(|line| line.contains("info string has")).unwrap();
    let (names, folder) = line.split_once(" has ").unwrap().1.split_once(" in ").unwrap();
    let mut names: Vec<_> = names.split(' ').collect();
    names.sort_unstable();
    assert_eq!((names, folder), (vec!["COLOUR", "PATH"], "/"));
    let inherited = inherited_descriptors();
    let fds = transcript.lines().find_map(|line| line.split_once("info string fds")).unwrap().1;
    let fds: Vec<u32> = fds.split_whitespace().map(|fd| fd.parse().unwrap()).collect();
    let ours: Vec<_> = fds.iter().filter(|fd| !inherited.contains(fd)).collect();
    assert_eq!(
        ours,
        [&0, &1, &2].into_iter().filter(|fd| !inherited.contains(fd)).collect::<Vec<_>>()
    );
}

/// The test runner may pass descriptors on to every process below.
fn inherited_descriptors() -> Vec<u32> {
    let output = std::process::Command::new(PROGRAM)
        .args(["uci", "tells-descriptors"])
        .stdin(input_of_go())
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let fds = output.lines().find_map(|line| line.strip_prefix("info string fds")).unwrap();
    fds.split_whitespace().map(|fd| fd.parse().unwrap()).collect()
}

fn input_of_go() -> std::process::Stdio {
    use std::io::Write as _;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"go\n").unwrap();
    reader.into()
}

#[test]
fn memory_is_bounded_where_that_is_asked_for() {
    let mut frugal = spec("uci", &["takes-memory"]);
    let mut free = playing(&frugal);
    choose(&mut free, limits()).unwrap();
    assert!(free.transcript().contains("memory granted"), "{}", free.transcript());
    frugal.memory_bytes = Some(512 << 20);
    let mut bounded = playing(&frugal);
    choose(&mut bounded, limits()).unwrap();
    assert!(bounded.transcript().contains("memory refused"), "{}", bounded.transcript());
}

/// The parent may have limited this process.
#[test]
fn a_bound_on_memory_above_that_of_the_system_is_none_the_worse() {
    let mut generous = spec("uci", &["takes-memory"]);
    generous.memory_bytes = Some(1 << 40);
    let guard = Guard::from_program(PROGRAM.into(), &["bounded-guard"]);
    let mut engine = Engine::start(&generous, &Options::new(), &guard, &never).unwrap();
    new_game(&mut engine).unwrap();
    choose(&mut engine, limits()).unwrap();
}

#[test]
fn an_unwanted_start_is_given_up() {
    let silent = spec("uci", &["silent"]);
    let failure = Engine::start(&silent, &Options::new(), &guard(), &|| true).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Aborted);
}

#[test]
fn breaches_are_returned_once_for_each_engine() {
    let mut engine = playing(&spec("uci", &["upper-case"]));
    choose(&mut engine, limits()).unwrap();
    let breaches = engine.take_breaches();
    let line = "bestmove E2E4".to_owned();
    assert_eq!(breaches, [Breach { kind: BreachKind::UpperCase, said: line, times: 1 }]);
    choose(&mut engine, limits()).unwrap();
    choose(&mut engine, limits()).unwrap();
    assert_eq!(engine.take_breaches(), []);
}
