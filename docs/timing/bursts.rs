//! Takes a core for 1 ms of every 5 ms, for ever: started before all others of its core, it disturbs each move that
//! takes longer, and by construction.
//!
//! ```text
//! rustc -O docs/timing/bursts.rs
//! chrt -f 50 taskset -c 0 ./bursts
//! ```

use std::time::{Duration, Instant};

const SLEEPS: Duration = Duration::from_millis(4);
const SPINS: Duration = Duration::from_millis(1);

fn main() {
    loop {
        // Nobody ends it sooner.
        std::thread::park_timeout(SLEEPS);
        let began = Instant::now();
        while began.elapsed() < SPINS {
            std::hint::spin_loop();
        }
    }
}
