//! Comparisons of cells over the API.

use spelrum_answers::{Comparisons, GetComparisons};
use spelrum_proto::Reason;
use spelrum_statistics::comparisons::Changed;
use spelrum_store::Readers;
use tonic::Status;

use spelrum_test_support::{HandWorker, Served, Site, quick_sweep, reason};

async fn comparisons(served: &Served, experiment: &str) -> Result<Comparisons, Status> {
    served.call(&GetComparisons { experiment: experiment.to_owned() }).await
}

/// Two seeds, two depths, two numbers of nodes; the openings of a seed are shared.
fn sweep(name: &str) -> String {
    quick_sweep(name, 8)
        .replace("seed = 7", "seed = \"$seed\"")
        .replace("depth = 1", "depth = \"$depth\"\nnodes = \"$nodes\"")
        + "\n[axes]\nseed = [1, 2]\ndepth = [1, 2]\nnodes = [50, 500]\n"
}

#[tokio::test]
async fn an_answer_over_the_network_equals_that_of_the_file() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep("compared")).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("compared", "finished").await;
    let read = comparisons(&served, "compared").await.unwrap();
    assert_eq!(read.axes, ["seed", "depth", "nodes"]);
    // From depth to depth, and from nodes to nodes: two of each for each seed, none from seed to seed.
    let on = |wanted: usize| {
        let on_axis = |gain: &&_| matches!(gain, &Changed::Axis { axis, .. } if *axis == wanted);
        read.differences.iter().map(|gain| &gain.changed).filter(on_axis).count()
    };
    assert_eq!([0, 1, 2].map(on), [0, 4, 4]);
    assert!(read.differences.iter().all(|gain| gain.openings_shared > 0));
    assert_eq!((read.effects.len(), read.replicates.len()), (1, 4));
    assert!(read.replicates.iter().all(|replicates| replicates.seeds == 2));
    assert!(!read.differences_truncated);

    let file = Readers::open(&site.db()).await.unwrap();
    assert_eq!(file.comparisons("compared").await.unwrap(), Some(read));
    file.close().await;
}

#[tokio::test]
async fn an_experiment_without_games_has_nothing_to_compare() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep("idle")).await;
    let read = comparisons(&served, "idle").await.unwrap();
    assert_eq!((read.differences.len(), read.effects.len(), read.replicates.len()), (0, 0, 0));
    for unknown in ["nobody", &"x".repeat(256)] {
        assert_eq!(reason(comparisons(&served, unknown).await), Reason::UnknownExperiment);
    }
}
