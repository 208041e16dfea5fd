//! A game is followed while it is played.

use std::thread::park_timeout;
use std::time::Duration;

use crate::disk::get;
use crate::sandbox::{Sandbox, wait_until};

/// By a worker that plays in a process of its own, as all do but that of `run`.
#[test]
fn moves_are_seen_before_the_game_ends() {
    let sandbox = Sandbox::new();
    // A game of many seconds, of which this waits for the first moves.
    sandbox.write(
        "sweep.toml",
        "name = \"slow\"\ngame = \"pentago\"\ngames = 2\npairing = \"self-play\"\n\
         [players.slow]\nalgorithm = \"alpha-beta\"\ndepth = 30\nmove_time = \"400ms\"\n",
    );
    let coordinator = sandbox.coordinator_with("slow.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _worker = sandbox.worker(url, "1", &[]);
    let mut followed = String::new();
    wait_until("the game has moves", || {
        park_timeout(Duration::from_millis(50));
        followed = get(&coordinator, "/api/v1/cells/1/games/0/under-way");
        followed.contains("\"moves\":[{\"mv\":\"")
    });
    assert!(followed.contains("\"depth\":") && followed.contains("\"slow\""), "{followed}");
    let page = get(&coordinator, "/cells/1/games/0");
    assert!(page.contains("data-follows") && page.contains("<svg"), "{page}");
    assert_eq!(sandbox.settled("slow.db"), 0, "it is not over");
}
