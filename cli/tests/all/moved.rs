//! A coordinator that moves to another address, with its database: workers and commands that have both go on there.

use crate::sandbox::{Sandbox, tic_tac_toe, wait_until};

#[test]
fn a_worker_goes_on_at_the_coordinators_next_address() {
    let sandbox = Sandbox::new();
    let mut first = sandbox.coordinator_with("c.db", "127.0.0.1:0", "200ms");
    // Nothing else listens there: free ports are taken at another address.
    let port = first.address().rsplit_once(':').unwrap().1;
    let next = format!("127.0.0.2:{port}");
    let both = format!("{},http://{next}", first.url);
    // Games of about a thousandth of a second, so that the move comes in their midst.
    let sweep = tic_tac_toe("sweep", 2_000);
    let slow = sweep.replace("alpha-beta", "minimax").replace("[1, 2]", "[4, 5]");
    sandbox.write("sweep.toml", &slow);
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &both]).expect_exit(0);
    let mut worker = sandbox.worker(&both, "1", &["--exit-when-done"]);
    wait_until("games are settled", || sandbox.settled("c.db") > 0);
    first.process.kill();
    let settled = sandbox.settled("c.db");
    assert!(settled < 4_000, "the sweep was played too soon");
    std::fs::create_dir(sandbox.path("elsewhere")).unwrap();
    for suffix in ["", "-wal"] {
        let [from, to] =
            ["c.db", "elsewhere/c.db"].map(|db| sandbox.path(&format!("{db}{suffix}")));
        std::fs::rename(from, to).unwrap();
    }
    let second = sandbox.coordinator_with("elsewhere/c.db", &next, "200ms");
    assert_eq!(worker.wait().code(), Some(0));
    assert_eq!(sandbox.settled("elsewhere/c.db"), 4_000);
    // It kept its place: it is the same worker, and none of its games was lost.
    assert_eq!(sandbox.sql("elsewhere/c.db", "SELECT count(*) FROM workers"), "1");
    assert_eq!(sandbox.sql("elsewhere/c.db", "SELECT count(*) FROM games WHERE counted = 0"), "0");
    // Commands look at both, too.
    let list = sandbox.run(&["list", "--coordinator", &both, "--json"]);
    list.expect_exit(0);
    assert!(list.stdout().contains("\"finished\""), "{}", list.stdout());
    drop(second);
    let gone = sandbox.run(&["list", "--coordinator", &both]);
    gone.expect_exit(5);
    assert!(gone.stderr().contains(&format!("failed to reach the coordinator at http://{next}")));
}
