//! `spelrum list`, where there is more to list than one answer holds.

use std::collections::BTreeMap;
use std::path::Path;

use spelrum_answers::PAGE_ITEMS_MAX;
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Sweep, Writer};
use spelrum_sweep::{SweepText, plan_sweep};

use crate::sandbox::{Sandbox, tic_tac_toe};

/// A database with experiments of these names, submitted one after the other.
async fn submit_all(db: &Path, names: &[String]) {
    let mut writer = Writer::open(db).await.unwrap();
    // One commit for all, unlike a coordinator.
    let mut transaction = writer.begin().await.unwrap();
    let mut plan = plan_sweep(&SweepText::new("x.toml", tic_tac_toe("x", 2))).unwrap();
    for name in names {
        plan.name.clone_from(name);
        let files = BTreeMap::new();
        let toml = tic_tac_toe(name, 2);
        let uuid = format!("uuid of {name}");
        let sweep = Sweep {
            uuid: &uuid,
            toml: &toml,
            files: &files,
            plan: &plan,
            new_experiment: false,
            fills: None,
        };
        transaction.submit(sweep).await.unwrap();
    }
    transaction.commit().await.unwrap();
    writer.close().await.unwrap();
}

#[test]
fn more_experiments_than_a_page_holds_are_listed() {
    let sandbox = Sandbox::new();
    let experiments = PAGE_ITEMS_MAX + 3;
    let names: Vec<_> = (0..experiments).map(|number| format!("many-{number}")).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(submit_all(&sandbox.path("many.db"), &names));
    let coordinator = sandbox.coordinator("many.db", "127.0.0.1:0");
    for source in [["--coordinator", &*coordinator.url], ["--db", "many.db"]] {
        let ran = sandbox.run(&[&["list", "--json"], &source[..]].concat());
        let listed: Vec<serde_json::Value> =
            serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
        let listed = listed.iter().map(|experiment| experiment["name"].as_str().unwrap());
        assert!(listed.eq(names.iter().map(String::as_str)), "from {source:?}");
        let last = ["list", "--name", names.last().unwrap()];
        let ran = sandbox.run(&[&last[..], &source[..]].concat());
        assert_eq!(ran.expect_exit(0).stdout().lines().count(), 3, "{}", ran.stdout());
    }
}
