//! Long lists of openings, which cells have in common: fetched apart from their definitions.

use std::io::Read as _;

use flate2::read::GzDecoder;
use spelrum_model::{DefinitionHash, ListedPositions, OpeningsCache, PlayableCell};
use spelrum_proto::limits::{LEASE_DEFINITIONS_BYTES_MAX, SLOTS_MAX};
use spelrum_proto::{Reason, v1};
use spelrum_test_support::{HandWorker, Site, quick_sweep, reason};

/// Two cells over the same positions.
fn sweep() -> String {
    let heaps = (4..29).flat_map(|a| (a..29).map(move |b| (a, b)));
    let position = |(a, b)| (1..4).map(move |c| format!("\"{b},{a},{c}/w\""));
    let positions: Vec<String> = heaps.flat_map(position).collect();
    format!(
        "name = \"listed\"\ngame = {{ name = \"nim\", heaps = [30, 30, 3] }}\ngames = 2\nopenings = [{}]\n\
         [axes]\nn = [1, 2]\n[players.a]\nalgorithm = \"random\"\n\
         [players.b]\nalgorithm = \"mcts\"\nsimulations = \"$n\"\n",
        positions.join(", ")
    )
}

#[tokio::test]
async fn cells_that_list_the_same_openings_name_them_by_one_hash() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep()).await;
    let mut worker = HandWorker::new(&served).await;
    let mut games = worker.granted().await.games;
    games.extend(worker.granted().await.games);
    assert_eq!(games.len(), 2);
    let cache = OpeningsCache::default();
    let mut hashes = Vec::new();
    for leased in &games {
        let definition_hash = leased.definition_hash.clone();
        let get = |openings_apart| {
            let definition_hash = definition_hash.clone();
            v1::GetCellRequest { definition_hash, openings_apart }
        };
        let mut work = served.work().await;
        let complete = work.get_cell(get(false)).await.unwrap().into_inner();
        assert!(complete.openings_hash.is_empty());
        let apart = work.get_cell(get(true)).await.unwrap().into_inner();
        assert!(apart.definition_json.len() + 4_000 < complete.definition_json.len());
        let request = v1::GetOpeningsRequest { definition_hash: definition_hash.clone() };
        let answer = work.get_openings(request).await.unwrap().into_inner();
        let mut json = String::new();
        GzDecoder::new(&*answer.positions_gzip).read_to_string(&mut json).unwrap();
        assert!(complete.definition_json.contains(&json));
        let listed = cache.supply(ListedPositions::from_json(&json).unwrap());
        assert_eq!(apart.openings_hash, listed.hash());
        let read = PlayableCell::from_split(&apart.definition_json, &listed, &cache);
        let (_cell, hash) = read.unwrap();
        assert_eq!(hash, DefinitionHash(definition_hash.try_into().unwrap()));
        hashes.push(apart.openings_hash);
    }
    assert_eq!(hashes[0], hashes[1]);
}

#[tokio::test]
async fn a_cell_without_a_long_list_has_no_openings_to_fetch() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("sweep", 2)).await;
    let definition_hash =
        HandWorker::new(&served).await.granted().await.games[0].definition_hash.clone();
    let request =
        v1::GetCellRequest { definition_hash: definition_hash.clone(), openings_apart: true };
    let cell = served.work().await.get_cell(request).await.unwrap().into_inner();
    assert!(cell.openings_hash.is_empty());
    for definition_hash in [definition_hash, vec![0; 32]] {
        let request = v1::GetOpeningsRequest { definition_hash };
        assert_eq!(reason(served.work().await.get_openings(request).await), Reason::UnknownCell);
    }
}

/// A worker of this many slots asks for games.
async fn lease(worker: &mut HandWorker, slots: u32) -> v1::LeaseResponse {
    let request = v1::LeaseRequest {
        worker_id: worker.id,
        coordinator_epoch: worker.epoch,
        slots,
        worker_secret: worker.secret.clone(),
        ..Default::default()
    };
    worker.client.lease(request).await.unwrap().into_inner()
}

/// The worker then need not ask for each of many small cells.
#[tokio::test]
async fn a_lease_of_several_cells_comes_with_their_definitions() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep()).await;
    served.submit(&quick_sweep("short", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let leased = lease(&mut worker, 8).await;
    let games = leased.grant.unwrap().games;
    let mut hashes: Vec<_> = games.into_iter().map(|games| games.definition_hash).collect();
    hashes.dedup();
    assert!(hashes.len() >= 2);
    assert_eq!(leased.cells.len(), hashes.len());
    for (cell, hash) in leased.cells.into_iter().zip(hashes) {
        assert_eq!(cell.definition_hash, hash);
        let request = v1::GetCellRequest { definition_hash: hash, openings_apart: true };
        let fetched = worker.client.get_cell(request).await.unwrap().into_inner();
        assert_eq!(cell.cell, Some(fetched));
    }
}

#[tokio::test]
async fn a_lease_of_one_cell_comes_without_its_definition() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("short", 8)).await;
    let mut worker = HandWorker::new(&served).await;
    let leased = lease(&mut worker, 8).await;
    assert_eq!(leased.grant.unwrap().games.len(), 1);
    assert!(leased.cells.is_empty());
}

/// The worker asks for the others.
#[tokio::test]
async fn definitions_beyond_the_bound_do_not_come_with_a_lease() {
    let site = Site::new();
    let served = site.serve().await;
    // Too few positions to be sent separately.
    let positions: Vec<String> = (1..29).map(|a| format!("\"{a},30,3/w\"")).collect();
    let sweep = format!(
        "name = \"many\"\ngame = {{ name = \"nim\", heaps = [30, 30, 3] }}\ngames = 2\nopenings = [{}]\n\
         [axes]\nn = {{ from = 1, to = 1_500, step = 1 }}\n[players.a]\nalgorithm = \"random\"\n\
         [players.b]\nalgorithm = \"mcts\"\nsimulations = \"$n\"\n",
        positions.join(", ")
    );
    served.submit(&sweep).await;
    let mut worker = HandWorker::new(&served).await;
    let leased = lease(&mut worker, SLOTS_MAX).await;
    let games = leased.grant.unwrap().games;
    let bytes = |cell: &v1::LeasedCell| cell.cell.as_ref().unwrap().definition_json.len();
    let sent: usize = leased.cells.iter().map(bytes).sum();
    assert!(sent <= LEASE_DEFINITIONS_BYTES_MAX, "{sent}");
    assert!(sent > LEASE_DEFINITIONS_BYTES_MAX - 4_096, "{sent}");
    assert!(leased.cells.len() < games.len());
}
