use std::ffi::OsStr;
use std::time::Duration;

use super::*;
use crate::uci::{MoveForm, Words};
use crate::xboard;

fn parse(text: &str) -> Result<EngineFile, EngineFileError> {
    EngineFile::parse(text, Path::new("/etc/spelrum/engines.toml"))
}

#[test]
fn a_file_says_all_there_is_to_say() {
    let file = parse(
        r#"
[engines.stockfish]
protocol = "uci"
command = "/usr/games/stockfish"
args = ["--quiet"]
files = ["big.nnue", "/nets/small.nnue"]
directory = "work"
environment = { OMP_NUM_THREADS = "1" }
memory = "2GiB"
at_once = 2
startup_timeout = "20s"
ready_timeout = "90s"
stop_timeout = "1s"
move_timeout = "2m"
quit_timeout = "3s"
set = { OwnBook = false, Threads = 1, SyzygyPath = "/tb", "Move Overhead" = 10 }

[engines.stockfish.options]
hash = { min = 1, max = 64 }
MultiPV = false
"Skill Level" = { min = 0, max = 20 }
EvalFile = { values = ["a.nnue", "b.nnue"] }
"Clear Hash" = { button = true }

[engines.edax]
protocol = "gtp"
command = "./edax"
options.level = { min = 1, max = 30, command = "level {value}" }
gtp = { ids = false, colours = ["b", "w"], pass = false, setup = ["komi 0"], limits = ["time -m {seconds}"] }

[engines.phalanx]
protocol = "xboard"
command = "./phalanx"
set.Book = false
options.Clear = { button = true }
xboard = { features = false, setup = ["book off"] }

[engines.tiltak]
protocol = "ugi"
command = "./tiltak"
ugi = { hello = "tei", position = "tps", clocks = ["wtime", "btime"] }

[engines.lishogi]
protocol = "ugi"
command = "./lishogi"
ugi = { clocks = ["b", "w"], increments = ["binc", "winc"] }

[engines.plain]
protocol = "ugi"
command = "./plain"
"#,
    )
    .unwrap();
    let stockfish = file.get("stockfish").unwrap();
    let s = Duration::from_secs;
    assert_eq!(stockfish.directory, Path::new("/etc/spelrum/work"));
    let files = ["/etc/spelrum/big.nnue", "/nets/small.nnue"];
    assert!(stockfish.files.iter().eq(files.map(Path::new)));
    assert_eq!((stockfish.memory_bytes, stockfish.at_once), (Some(2 << 30), 2));
    assert_eq!(
        stockfish.patience,
        Patience { startup: s(20), ready: s(90), stop: s(1), unbounded_move: s(120), quit: s(3) }
    );
    let names: Vec<_> = stockfish.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["Clear Hash", "EvalFile", "Skill Level", "hash"]);
    assert_eq!(stockfish.set["OwnBook"], OptionValue::Flag(false));
    assert_eq!(stockfish.set["Move Overhead"], OptionValue::Number(10));
    let edax = file.get("edax").unwrap();
    assert_eq!(edax.command, Path::new("/etc/spelrum/./edax"));
    assert_eq!(edax.directory, Path::new("/etc/spelrum"));
    assert_eq!(edax.options[0].command.as_deref(), Some("level {value}"));
    assert!(!edax.gtp.ids && edax.gtp.boardsize);
    let phalanx = file.get("phalanx").unwrap();
    let dialect = xboard::Dialect { features: false, setup: vec!["book off".to_owned()] };
    assert_eq!(phalanx.xboard, dialect);
    let names: Vec<_> = phalanx.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["Hash", "Threads", "MultiPV", "Clear"]);
    let tiltak = file.get("tiltak").unwrap();
    let names: Vec<_> = tiltak.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["Hash", "Threads", "MultiPV"]);
    let Words { hello, position, clocks, increments, moves } = &tiltak.ugi;
    assert_eq!((hello.as_str(), position.as_str(), *moves), ("tei", "tps", MoveForm::Word));
    assert_eq!([clocks, increments], [&["wtime", "btime"], &["winc", "binc"]]);
    let lishogi = &file.get("lishogi").unwrap().ugi;
    assert_eq!([&lishogi.clocks, &lishogi.increments], [&["b", "w"], &["binc", "winc"]]);
    assert_eq!(file.get("plain").unwrap().ugi, Words::ugi());
    assert_eq!(file.iter().count(), 6);
    assert_eq!(parse("").unwrap(), EngineFile::default());
}

#[test]
fn what_has_no_meaning_is_refused_with_its_place() {
    let uci = "[engines.sf]\nprotocol = \"uci\"\ncommand = \"/sf\"\n";
    let xboard = "[engines.x]\nprotocol = \"xboard\"\ncommand = \"/x\"\n";
    let ugi = "[engines.x]\nprotocol = \"ugi\"\ncommand = \"/x\"\n";
    let gtp = "[engines.x]\nprotocol = \"gtp\"\ncommand = \"/x\"\n";
    for (text, error) in [
        ("[engines.sf]\ncommand = \"/sf\"".to_owned(), "1:1: `protocol` is missing"),
        (
            "[engines.sf]\nprotocol = \"winboard\"\ncommand = \"/sf\"".to_owned(),
            "2:12: `protocol` cannot be \"winboard\"",
        ),
        (format!("{uci}comand = 3"), "4:1: unknown key `comand` in engine `sf`"),
        (format!("{uci}at_once = 0"), "4:11: `at_once` is 0"),
        (format!("{uci}stop_timeout = \"5\""), "4:16: `5` is not a duration"),
        (format!("{uci}stop_timeout = \"0s\""), "4:16: `0s` is zero"),
        (format!("{uci}stop_timeout = \"5: x\""), "4:16: `5: x` is not a duration"),
        (format!("{uci}memory = \"5GB\""), "4:10: `5GB` is not an amount of memory"),
        (format!("{uci}memory = \"0MiB\""), "4:10: `0MiB` is zero"),
        (format!("{uci}options.A = 3"), "4:13: `A` has a value, not a rule"),
        (
            format!("{uci}options.A = {{ min = 3, max = 1 }}"),
            "4:13: `A` has no bounds that leave a number",
        ),
        (format!("{uci}options.A = {{ values = [] }}"), "4:13: `A` has no list of values"),
        (
            format!("{uci}options.A = {{ any = true }}"),
            "4:13: what `A` may be cannot be understood",
        ),
        (
            format!("{uci}options.A = {{ values = [\"a\\nquit\"] }}"),
            "4:25: the text of an option has several lines",
        ),
        (
            format!("{uci}options.A = {{ min = 1, max = 2, command = \"x\" }}"),
            "4:13: UCI has its own command to set an option",
        ),
        (format!("{uci}set.A = 1.5"), "4:9: an option cannot be a number with a fraction"),
        (format!("{uci}gtp = {{ ids = false }}"), "4:7: the engine does not speak GTP"),
        (
            format!("{uci}environment = {{ \"A=B\" = \"\" }}"),
            "4:17: `A=B` is not a valid variable name",
        ),
        (format!("{uci}args = [\"a\\u0000b\"]"), "4:9: the text contains a NUL byte"),
        (format!("{uci}xboard.features = false"), "4:1: the engine does not speak XBoard"),
        (format!("{xboard}gtp.ids = false"), "4:1: the engine does not speak GTP"),
        (format!("{xboard}xboard.feature = false"), "4:8: unknown key `feature` in `xboard`"),
        (
            format!("{xboard}xboard.features = 1"),
            "4:19: `features` must be a switch, not a whole number",
        ),
        (format!("{xboard}xboard.setup = [\"a\\nb\"]"), "4:17: a command has several lines"),
        (format!("{uci}ugi.hello = \"tei\""), "4:1: the engine does not speak UGI"),
        (format!("{ugi}ugi = \"tei\""), "4:7: `ugi` must be a table, not a text"),
        (format!("{ugi}ugi.helo = \"tei\""), "4:5: unknown key `helo` in `ugi`"),
        (format!("{ugi}ugi.hello = 3"), "4:13: `hello` must be a text, not a whole number"),
        (
            format!("{ugi}ugi.hello = \"tei now\""),
            "4:13: `hello` has \"tei now\", which is not one word",
        ),
        (format!("{ugi}ugi.hello = \"\""), "4:13: `hello` has \"\", which is not one word"),
        (format!("{ugi}ugi.hello = \"é\""), "4:13: `hello` has \"é\", which is not one word"),
        (
            format!("{ugi}ugi.position = \"startpos\""),
            "4:16: `position` has \"startpos\", which means something else in this protocol",
        ),
        (format!("{ugi}ugi.clocks = [\"wtime\"]"), "4:14: `clocks` has 1 words, not 2"),
        (
            format!("{ugi}ugi.clocks = [\"wtime\", \"nodes\"]"),
            "4:24: `clocks` has \"nodes\", which means something else in this protocol",
        ),
        (
            format!("{ugi}ugi.clocks = [\"mine\", \"yours\"]"),
            "4:1: no word for an increment follows from `mine`",
        ),
        (
            format!("{ugi}ugi.clocks = [\"time\", \"time\"]"),
            "4:1: two of the words `time`, `time`, `inc`, `inc` are the same",
        ),
        (
            format!("{ugi}ugi.increments = [\"p1time\", \"binc\"]"),
            "4:1: two of the words `p1time`, `p2time`, `p1time`, `binc` are the same",
        ),
        (format!("{gtp}set.A = 1"), "4:5: GTP has no options"),
        (
            format!("{gtp}options.level = {{ min = 1, max = 2 }}"),
            "4:17: `level` has no command that sets it",
        ),
        (format!("{gtp}gtp.setup = [\"a\\nb\"]"), "4:14: a command has several lines"),
        (
            "[engines.\"a b\"]\nprotocol = \"uci\"\ncommand = \"/sf\"".to_owned(),
            "1:10: `a b` is not a valid engine name",
        ),
        (
            "[engines.sf]\nprotocol = \"uci\"\ncommand = \"\"".to_owned(),
            "3:11: the command is empty",
        ),
        (
            "[engines.sf]\nprotocol = \"uci\"\ncommand = \"no-such-engine\"".to_owned(),
            "3:11: there is no program `no-such-engine` in the PATH",
        ),
        ("engine = 3".to_owned(), "1:1: unknown key `engine` in the engines file"),
        ("[engines".to_owned(), "1:9: this is not TOML: unclosed table"),
    ] {
        let refusal = parse(&text).unwrap_err();
        assert!(!refusal.remedy.is_empty());
        let refusal = refusal.to_string();
        let expected = format!("/etc/spelrum/engines.toml:{error}");
        assert!(refusal.starts_with(&expected), "{text}\n{refusal}\n{expected}");
    }
}

#[test]
fn a_machine_says_which_programs_it_accepts_and_how_they_run() {
    let file = parse(
        r#"
builds = "cache"
[accept_programs]
protocol = "uci"
names = ["dev", "base-2"]
size = "500MiB"
memory = "1GiB"
environment = { LC_ALL = "C" }
set = { Threads = 1 }
options.Contempt = { min = -9, max = 9 }
"#,
    )
    .unwrap();
    let accepted = file.accepted().unwrap();
    assert!(accepted.accepts("dev") && accepted.accepts("base-2") && !accepted.accepts("other"));
    let sha256: spelrum_programs::Sha256Hex = "07".repeat(32).parse().unwrap();
    let engine = accepted.engine("dev@07", &sha256);
    let folder = Path::new("/etc/spelrum/cache/programs");
    assert_eq!(engine.command, folder.join(sha256.to_string()));
    assert_eq!(engine.directory, folder.join(format!("{sha256}.run/{{slot}}")));
    assert_eq!((engine.args.len(), engine.files.len(), engine.environment.len()), (0, 0, 1));
    assert_eq!((engine.memory_bytes, engine.protocol), (Some(1 << 30), Protocol::Uci));
    assert!(engine.options.iter().any(|option| option.name == "Contempt"));
    let any = parse("builds = \"b\"\n[accept_programs]\nprotocol = \"lines\"\n").unwrap();
    let any = any.accepted().unwrap();
    assert!(any.accepts("x") && any.names().is_none());
    for odd in ["", ".", "..", "a/b", "a b", "ä", &"x".repeat(65)] {
        assert_eq!(any.accepts(odd), matches!(odd, "." | ".."), "{odd}: the name of no file");
    }
    assert_eq!(parse("[engines]").unwrap().accepted(), None);
    for (text, problem) in [
        ("", "`protocol` is missing"),
        ("protocol = \"usi\"", "`protocol` cannot be \"usi\""),
        ("protocol = \"uci\"\nargs = [\"-x\"]", "`args`"),
        ("protocol = \"uci\"\ncommand = \"./x\"", "`command`"),
        ("protocol = \"uci\"\ndirectory = \"x\"", "`directory`"),
        ("protocol = \"uci\"\nsize = \"2\"", "`2` is not an amount of memory"),
        ("protocol = \"uci\"\nnames = [\"../x\"]", "`../x` is not a valid engine name"),
        ("protocol = \"uci\"\nnames = \"dev\"", "`names`"),
    ] {
        let error = parse(&format!("builds = \"b\"\n[accept_programs]\n{text}\n")).unwrap_err();
        assert!(error.problem.contains(problem), "{text}: {error}");
    }
}

#[test]
fn a_program_is_looked_for_where_it_can_be_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    for (place, mode) in [(&first, 0o644), (&second, 0o755)] {
        std::fs::create_dir(place).unwrap();
        std::fs::write(place.join("engine"), "").unwrap();
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.join("engine"), mode).unwrap();
    }
    let here = Path::new(".");
    let path = std::env::join_paths([here, Path::new(""), &first, &second]).unwrap();
    assert_eq!(in_path(&path, "engine"), Some(second.join("engine")));
    // A program that runs from the tests' working directory, by a path relative to it.
    let way = Path::new(&"../".repeat(64)).join(second.strip_prefix("/").unwrap());
    assert!(way.join("engine").is_file());
    assert_eq!(in_path(way.as_os_str(), "engine"), None);
    assert_eq!(in_path(OsStr::new(""), "engine"), None);
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engines.toml");
    let error = EngineFile::read(&path).unwrap_err();
    assert!(error.to_string().contains("engines.toml: No such file"), "{error}");
    let long = " ".repeat(2 << 20);
    std::fs::write(&path, long).unwrap();
    let error = EngineFile::read(&path).unwrap_err();
    assert!(error.to_string().ends_with("which is too many for an engines file"), "{error}");
    std::fs::write(&path, [0xff]).unwrap();
    assert!(EngineFile::read(&path).is_err());
    std::fs::write(&path, "").unwrap();
    assert_eq!(EngineFile::read(&path), Ok(EngineFile::default()));
}

#[test]
fn the_folders_of_syzygy_tables_are_listed_and_handed_to_engines() {
    let engine = "[engines.a]\nprotocol = \"uci\"\ncommand = \"./a\"\nsyzygy = true\n";
    let folders = |path: &str| parse(&format!("[syzygy]\npath = {path}\n{engine}")).unwrap();
    for path in ["[\"/tb/5\", \"6\"]", "\"/tb/5:6\""] {
        let file = folders(path);
        assert_eq!(file.syzygy(), [Path::new("/tb/5"), Path::new("/etc/spelrum/6")], "{path}");
        let option = &file.get("a").unwrap().set["SyzygyPath"];
        assert_eq!(*option, OptionValue::Text("/tb/5:/etc/spelrum/6".to_owned()));
    }
    assert!(parse("").unwrap().syzygy().is_empty());
    let problem = |text: &str| parse(text).unwrap_err().problem;
    assert_eq!(problem(engine), "the file names no Syzygy tables");
    assert_eq!(problem("[syzygy]\npath = \"\""), "`path` names no folder");
    assert_eq!(problem("[syzygy]\npath = [1]"), "`path` must be a text, not a whole number");
    assert_eq!(problem("[syzygy]\n"), "`path` is missing");
    let gtp =
        "[syzygy]\npath = \"/tb\"\n[engines.a]\nprotocol = \"gtp\"\ncommand = \"./a\"\nsyzygy = ";
    assert_eq!(problem(&format!("{gtp}true")), "its protocol has no options");
    assert_eq!(problem(&format!("{gtp}1")), "`syzygy` cannot be a whole number");
}
