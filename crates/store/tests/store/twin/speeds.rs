//! Workers' speed measurements.

use spelrum_model::WorkerId;
use spelrum_model::speed::Speed;

use super::State;
use spelrum_store::decisions::{APART_US, is_known, measured_unix_us};
use spelrum_store::unix_now_us;

impl State {
    /// Keeps a worker's measurements, unless they repeat its last ones.
    pub(super) fn store_speeds(&mut self, worker: WorkerId, speeds: &[Speed]) {
        for speed in speeds.iter().filter(|speed| is_known(&speed.game)) {
            let measured = measured_unix_us(speed, unix_now_us());
            let ageless = Speed { age_ms: 0, ..speed.clone() };
            let its = self.speeds.entry((worker, speed.game.clone())).or_default();
            let is_told_again =
                |(at, last): &(i64, Speed)| *at > measured - APART_US || *last == ageless;
            if !its.last().is_some_and(is_told_again) {
                its.push((measured, ageless));
            }
        }
    }
}
