//! A network that is cut, stalls, lets little pass, or breaks off one way, between workers and their coordinator.

use super::cluster::Cluster;
use super::kills;
use super::proxy::{Direction, Proxy, Weather};
use crate::sandbox::Sandbox;

const WORKERS: [&str; 3] = ["ada", "bob", "eve"];

#[test]
fn whatever_the_network_does_the_games_are_the_same() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let proxies = WORKERS.map(|_| Proxy::to(&cluster.address()));
    let set_all = |weather| proxies.iter().for_each(|proxy| proxy.set_weather(weather));
    let _workers = [0, 1, 2].map(|at| cluster.worker(WORKERS[at], &proxies[at].url, "1"));
    for round in 0..kills().div_ceil(10) {
        let first = usize::try_from(round).unwrap() % WORKERS.len();
        let (first, name) = (&proxies[first], WORKERS[first]);
        // Nobody reaches it, and it reaches nobody, for longer than leases live.
        for weather in [Weather::Cut, Weather::Stalled] {
            cluster.lose(&WORKERS, || set_all(weather));
            set_all(Weather::Clear);
            cluster.plays_on();
        }
        // One is away, and comes back when others have its games.
        cluster.lose(&[name], || first.set_weather(Weather::Stalled));
        first.set_weather(Weather::Slow);
        cluster.plays_on();
        set_all(Weather::Slow);
        cluster.plays_on();
        set_all(Weather::Clear);
        // What says that it has ended is begun anew.
        for direction in [Direction::ToCoordinator, Direction::ToWorker] {
            let before = proxies.each_ref().map(Proxy::connections_made);
            proxies.iter().for_each(|proxy| proxy.half_close(direction));
            proxies.iter().zip(before).for_each(|(proxy, made)| proxy.wait_for_another(made));
            cluster.plays_on();
        }
    }
    cluster.assert_ends_well();
}

/// A connection on which nothing arrives any more, and of which nobody says that it has ended, as behind a router
/// that was started anew.
#[test]
fn a_connection_that_swallows_everything_is_given_up() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let proxies = [(); 2].map(|()| Proxy::to(&cluster.address()));
    let _workers = [0, 1].map(|at: usize| sandbox.worker(&proxies[at].url, "1", &[]));
    proxies.iter().for_each(|proxy| proxy.wait_for_another(0));
    cluster.plays_on();
    proxies[0].deafen(Direction::ToCoordinator);
    proxies[1].deafen(Direction::ToWorker);
    proxies.iter().for_each(|proxy| proxy.wait_for_another(1));
    cluster.assert_ends_well();
}
