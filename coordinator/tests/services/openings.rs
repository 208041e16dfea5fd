//! Long lists of openings, which cells have in common: fetched apart from their definitions.

use std::io::Read as _;

use flate2::read::GzDecoder;
use spelrum_model::{DefinitionHash, ListedPositions, OpeningsCache, PlayableCell};
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
