//! SIGKILL in the middle of a report and of its answer, of the worker that says it, of the coordinator that
//! hears it, or of both. A proxy stops everything at that moment.

use super::cluster::Cluster;
use super::kills;
use super::proxy::{Moment, Proxy};
use crate::sandbox::Sandbox;

pub(super) const MOMENTS: [Moment; 5] =
    [Moment::HalfSent, Moment::Sent, Moment::Answered, Moment::HalfHeard, Moment::Heard];

#[derive(Clone, Copy, Debug)]
enum Victim {
    Worker,
    Coordinator,
    Both,
    /// Their connection alone.
    Neither,
}

impl Victim {
    fn has_worker(self) -> bool {
        matches!(self, Self::Worker | Self::Both)
    }

    fn has_coordinator(self) -> bool {
        matches!(self, Self::Coordinator | Self::Both)
    }
}

const VICTIMS: [Victim; 4] = [Victim::Worker, Victim::Coordinator, Victim::Both, Victim::Neither];

#[test]
fn whoever_dies_in_the_middle_of_a_report_loses_nothing() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let proxy = Proxy::to(&cluster.address());
    let mut worker = sandbox.worker(&proxy.url, "2", &[]);
    let mut stopped = 0;
    for _ in 0..kills().div_ceil(10) {
        for moment in MOMENTS {
            for victim in VICTIMS {
                proxy.stop_report(moment, || cluster.keep_busy());
                stopped += 1;
                if victim.has_worker() {
                    worker.kill();
                }
                if victim.has_coordinator() {
                    cluster.coordinator.process.kill();
                }
                proxy.release();
                if victim.has_coordinator() {
                    cluster.restart();
                }
                if victim.has_worker() {
                    worker = sandbox.worker(&proxy.url, "2", &[]);
                }
            }
        }
    }
    eprintln!("{stopped} reports were stopped; {} results came twice", cluster.repeats());
    assert!(cluster.repeats() > 0, "what was stored and not acknowledged was said again");
    cluster.assert_ends_well();
}
