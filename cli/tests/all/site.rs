//! `spelrum report --site`: pages as files, whose links all lead to files of the site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::sandbox::{Process, Sandbox, tic_tac_toe, wait_until};

/// All files of a directory, relative to it.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut open = vec![directory.to_owned()];
    let mut files = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.insert(path.strip_prefix(directory).unwrap().to_owned());
        }
    }
    files
}

/// Follows every link of every page, and returns the pages that a reader of the first one can reach.
fn reachable(site: &Path) -> BTreeSet<PathBuf> {
    let mut open = vec![PathBuf::from("index.html")];
    let mut seen = BTreeSet::new();
    while let Some(page) = open.pop() {
        if !seen.insert(page.clone()) || page.extension().is_none_or(|name| name != "html") {
            continue;
        }
        let text = std::fs::read_to_string(site.join(&page)).unwrap();
        for link in [" href=\"", " src=\""].iter().flat_map(|start| text.split(start).skip(1)) {
            let link = link.split('"').next().unwrap();
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            assert!(!file.contains(':') && !file.starts_with('/'), "{}: {link}", page.display());
            let mut target = page.parent().unwrap().to_owned();
            if file.is_empty() {
                let id = format!(" id=\"{fragment}\"");
                assert!(text.contains(&id), "{}: {link}", page.display());
                continue;
            }
            for part in Path::new(file) {
                if part == ".." {
                    assert!(target.pop(), "{}: {link}", page.display())
                } else {
                    target.push(part)
                }
            }
            assert!(site.join(&target).is_file(), "{}: {link}", page.display());
            open.push(target);
        }
    }
    seen
}

#[test]
fn every_link_of_a_site_leads_to_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("many.toml", &tic_tac_toe("many", 130));
    sandbox.write("few.toml", &tic_tac_toe("few", 2));
    sandbox.run(&["run", "many.toml", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["run", "few.toml", "--db", "c.db"]).expect_exit(0);
    let report = ["report", "--db", "c.db", "--site"];
    let ran = sandbox.run(&[&report[..], &["site", "--site-games", "255"]].concat());
    assert_eq!(ran.expect_exit(0).stdout(), "");
    let site = sandbox.path("site");
    let written = files(&site);
    assert_eq!(reachable(&site), written);
    let games = written.iter().filter(|file| file.starts_with("games")).count();
    assert_eq!(games, 255 + 4);
    let read = |file: &str| std::fs::read_to_string(site.join(file)).unwrap();
    let index = read("index.html");
    for link in
        ["<a href=\"experiments/1.html\">many</a>", "<a href=\"experiments/2.html\">few</a>"]
    {
        assert!(index.contains(link), "{index}");
    }
    let bounded = "The newest 255 of 260 games have a page here.";
    for file in ["experiments/1.html", "experiments/1-games-2.html"] {
        assert!(read(file).contains(bounded), "{file}");
    }
    assert!(!read("experiments/2.html").contains("The newest"));
    // Nothing in it needs a server.
    for file in written.iter().filter(|file| file.extension().is_some_and(|name| name == "html")) {
        let text = std::fs::read_to_string(site.join(file)).unwrap();
        for server in ["<button", "<form", "/static/pages.js", "/live"] {
            assert!(!text.contains(server), "{}: {server}", file.display());
        }
    }

    // One experiment, and by default not all of its games.
    sandbox.run(&[&report[..], &["one", "many"]].concat()).expect_exit(0);
    let one = files(&sandbox.path("one"));
    assert_eq!(one.iter().filter(|file| file.starts_with("games")).count(), 100);
    assert!(!one.contains(Path::new("experiments/2.html")));
    assert_eq!(reachable(&sandbox.path("one")), one);
}

#[test]
fn a_site_takes_the_place_of_another_one_only() {
    let sandbox = Sandbox::new();
    sandbox.write("few.toml", &tic_tac_toe("few", 2));
    sandbox.run(&["run", "few.toml", "--db", "c.db"]).expect_exit(0);
    let write =
        |more: &[&str]| sandbox.run(&[&["report", "--db", "c.db", "--site"], more].concat());
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    write(&["empty"]).expect_exit(0);
    let again = write(&["empty"]);
    again.expect_exit(3);
    assert!(again.stderr().contains("the directory is not empty"), "{}", again.stderr());
    std::fs::remove_file(sandbox.path("empty/games/1.html")).unwrap();
    write(&["empty", "--force"]).expect_exit(0);
    assert!(sandbox.path("empty/games/1.html").is_file());

    // What is not a site is not replaced; neither is a file.
    std::fs::create_dir(sandbox.path("other")).unwrap();
    sandbox.write("other/index.html", "mine");
    write(&["other", "--force"]).expect_exit(3);
    assert_eq!(std::fs::read_to_string(sandbox.path("other/index.html")).unwrap(), "mine");
    for mine in ["empty/mine.txt", "empty/games/notes.html", "empty/static/site.js.map"] {
        sandbox.write(mine, "mine");
        write(&["empty", "--force"]).expect_exit(3);
        assert_eq!(std::fs::read_to_string(sandbox.path(mine)).unwrap(), "mine");
        std::fs::remove_file(sandbox.path(mine)).unwrap();
    }
    for neighbour in ["new.partial", "empty.replaced"] {
        std::fs::create_dir(sandbox.path(neighbour)).unwrap();
        sandbox.write(&format!("{neighbour}/mine"), "mine");
    }
    write(&["empty", "--force"]).expect_exit(0);
    assert!(
        sandbox.path("new.partial/mine").exists() && sandbox.path("empty.replaced/mine").exists()
    );
    write(&["few.toml", "--force"]).expect_exit(3);
    write(&["."]).expect_exit(3);
    for more in [&["--json"][..], &["--html", "x.html"], &["--ratings"], &["--output", "x"]] {
        write(&[&["new"], more].concat()).expect_exit(2);
    }
    assert!(!sandbox.path("new").exists());
}

#[test]
fn a_call_that_ends_early_leaves_no_half_site() {
    let sandbox = Sandbox::new();
    sandbox.write("many.toml", &tic_tac_toe("many", 200));
    sandbox.run(&["run", "many.toml", "--db", "c.db"]).expect_exit(0);
    let write = ["report", "--db", "c.db", "--site", "site", "--site-games", "400"];
    let mut killed: Process = sandbox.start(&write);
    wait_until("games are written", || {
        growing(&sandbox).is_some() || sandbox.path("site").exists()
    });
    killed.kill();
    let is_half = sandbox.path("site").exists() && files(&sandbox.path("site")).len() < 406;
    assert!(!is_half);
    sandbox.run(&[&write[..], &["--force"]].concat()).expect_exit(0);
    assert_eq!(files(&sandbox.path("site")).len(), 406);
}

/// A site's directory that is not complete, once it has games.
fn growing(sandbox: &Sandbox) -> Option<PathBuf> {
    let entries = std::fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap());
    let mut growing =
        entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(".site."));
    growing.next().map(|entry| entry.path().join("new/games")).filter(|games| games.exists())
}

#[test]
fn names_in_a_site_are_texts() {
    const NAME: &str =
        "\"'></title><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\u{7}";
    let sandbox = Sandbox::new();
    sandbox.write("few.toml", &tic_tac_toe("few", 2));
    sandbox.run(&["run", "few.toml", "--db", "c.db"]).expect_exit(0);
    let database = Connection::open(sandbox.path("c.db")).unwrap();
    for statement in [
        "UPDATE experiments SET name = name || ?1, description = description || ?1, uuid = uuid || '/../..' || ?1",
        "UPDATE cells SET first_player_name = first_player_name || ?1, second_player_name = second_player_name || ?1",
    ] {
        assert!(database.execute(statement, [NAME]).unwrap() > 0, "{statement}");
    }
    drop(database);
    sandbox.run(&["report", "--db", "c.db", "--site", "site"]).expect_exit(0);
    let site = sandbox.path("site");
    let written = files(&site);
    assert_eq!(reachable(&site), written);
    for file in written.iter().filter(|file| file.extension().is_some_and(|name| name == "html")) {
        let text = std::fs::read_to_string(site.join(file)).unwrap();
        assert!(text.contains("&lt;script&gt;"), "{}", file.display());
        for markup in ["<script>", "<img", "\u{202e}", "\u{7}"] {
            assert!(!text.contains(markup), "{}: {markup}", file.display());
        }
    }
}

#[test]
fn a_long_game_has_its_last_boards() {
    let sandbox = Sandbox::new();
    let random = "algorithm = \"random\"\n";
    let sweep = "name = \"long\"\ngame = \"chess\"\nseed = 1\ngames = 2\n";
    sandbox.write("long.toml", &format!("{sweep}[players.a]\n{random}[players.b]\n{random}"));
    sandbox.run(&["run", "long.toml", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["report", "--db", "c.db", "--site", "site"]).expect_exit(0);
    let site = sandbox.path("site");
    assert_eq!(reachable(&site), files(&site));
    let mut bounded = 0;
    for game in [1, 2] {
        let plies = format!("SELECT plies FROM games WHERE game_id = {game}");
        let plies: usize = sandbox.sql("c.db", &plies).parse().unwrap();
        let page = std::fs::read_to_string(site.join(format!("games/{game}.html"))).unwrap();
        assert_eq!(page.matches("class=\"ply\"").count(), (plies + 1).min(300), "{plies}");
        assert!(page.contains(&format!(" id=\"ply-{plies}\"")), "{plies}");
        bounded += usize::from(plies >= 300);
    }
    assert!(bounded > 0, "no game is long enough");
}
