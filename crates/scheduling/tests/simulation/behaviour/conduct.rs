//! Workers that fail much more than others.

use crate::script::check;

/// So many games that fail at the first worker and that the second one then plays. `lease` is the last one before.
fn faults(games: u64, lease: u64) -> String {
    let each = |game| {
        let first = lease + 1 + 2 * game;
        format!(
            "w1 wants 1                -> lease {first}: 10:{game}
             w1 failed {first}/10:{game} -> noted
             w2 wants 1                -> lease {0}: 10:{game}
             w2 played {0}/10:{game}\n",
            first + 1
        )
    };
    (0..games).map(each).collect()
}

/// A cell whose games are leased one by one: each has failed once, at a worker that is not seen any more.
fn failed_once(games: u64) -> String {
    format!(
        "submit e1 10x{games}          ->
         w9 wants 64                   -> lease 1: 10:0-{last}
         w9 failed 1/10:0-{last}
         200s pass                     ->\n",
        last = games - 1
    )
}

#[test]
fn a_game_that_failed_goes_to_somebody_else() {
    check(
        "submit e1 10x2     ->
         w2 beats           ->
         w1 wants 1         -> lease 1: 10:0-1
         w1 failed 1/10:0   -> noted
         w1 wants 1         -> wait
         w2 wants 1         -> lease 2: 10:0
         w2 failed 2/10:0   -> noted
         w1 wants 1         -> lease 3: 10:0
         w1 returns 3       ->
         w2 wants 1         -> lease 4: 10:0
         w2 failed 4/10:0   -> noted, give up 10:0 (boom)
         w1 played 1/10:1   -> counts, e1 finished",
    );
}

/// Nobody else may be able to play it.
#[test]
fn it_comes_back_if_nobody_else_takes_it() {
    check(
        "10 plays fish             ->
         submit e1 10x2 11x2       ->
         w2 wants 1                -> lease 1: 11:0-1
         w1 wants 1 with fish      -> lease 2: 10:0-1
         w1 failed 2/10:0          -> noted
         w1 played 2/10:1          -> counts
         w2 played 1/11:0-1        -> counts, counts
         100s pass                 ->
         w2 beats                  ->
         w1 wants 1 with fish      -> wait
         20s pass                  ->
         w2 beats                  ->
         w1 wants 1 with fish      -> lease 3: 10:0",
    );
}

/// A worker that is silent is not waited for.
#[test]
fn a_worker_alone_tries_again_at_once() {
    check(
        "submit e1 10x2     ->
         w2 beats           ->
         30s pass           ->
         w1 wants 1         -> lease 1: 10:0-1
         w1 failed 1/10:0   -> noted
         w1 wants 1         -> lease 2: 10:0",
    );
}

#[test]
fn ten_faults_beside_a_worker_without_any_are_a_quarantine() {
    check(
        &(failed_once(30)
            + &faults(9, 1)
            + "w1 wants 1          -> lease 20: 10:9
               w1 failed 20/10:9   -> noted
               w2 wants 1          -> lease 21: 10:9
               w2 played 21/10:9   -> counts, quarantine w1 (10 of 10), quarantine w9 (10 of 10)
               w1 wants 1          -> quarantined
               w2 wants 1          -> lease 22: 10:10
               599s pass
               w1 wants 1          -> quarantined
               1s passes
               w1 wants 1          -> lease 23: 10:10
               w1 failed 23/10:10
               w2 wants 1"),
    );
}

/// What it has not begun would wait for it otherwise, and fail.
#[test]
fn what_it_holds_is_taken_from_it() {
    check(
        &(failed_once(30)
            + &faults(9, 1)
            + "w1 wants 1          -> lease 20: 10:9
               w1 failed 20/10:9   -> noted
               w1 wants 1          -> lease 21: 10:10
               submit e2 20x40     ->
               w1 wants 8          -> lease 22: 20:0-15
               w2 wants 1          -> lease 23: 10:9
               w2 played 23/10:9   -> counts, quarantine w1 (10 of 10), quarantine w9 (10 of 10)
               w1 beats 21 22      -> drop 21 22
               w1 failed 21/10:10  -> noted
               w2 wants 1          -> lease 24: 10:10
               w1 played 22/20:0   -> counts
               pause e1            ->
               w2 wants 1          -> lease 25: 20:1-15 20:16-19"),
    );
}

#[test]
fn somebody_may_let_it_in() {
    check(
        &(failed_once(30)
            + &faults(9, 1)
            + "w1 wants 1          -> lease 20: 10:9
               w1 failed 20/10:9   -> noted
               w2 wants 1          -> lease 21: 10:9
               w2 played 21/10:9
               w1 wants 1          -> quarantined
               readmit w1          ->
               w1 wants 1          -> lease 22: 10:10"),
    );
}

/// Games that fail wherever they are played are nobody's fault.
#[test]
fn games_that_fail_everywhere_quarantine_nobody() {
    let mut story = String::from("submit e1 10x60 ->\n w2 beats ->\n");
    story += "w1 wants 64 -> lease 1: 10:0-59\n w1 failed 1/10:0-59\n";
    for game in 0..30 {
        let (second, third) = (2 + 2 * game, 3 + 2 * game);
        story += &format!(
            "w2 wants 1 -> lease {second}: 10:{game}
             w2 failed {second}/10:{game} -> noted
             w2 wants 1 -> lease {third}: 10:{game}
             w2 failed {third}/10:{game} -> noted, give up 10:{game} (boom)\n"
        );
    }
    check(&(story + "w1 wants 1 -> wait\n w2 wants 1 -> lease 62: 10:30"));
}

/// It would fail all of it before others have played a few.
#[test]
fn who_fails_always_gets_nothing_new_while_others_have_not_tried_it() {
    check(
        "submit e1 10x80     ->
         w2 beats            ->
         w1 wants 10         -> lease 1: 10:0-19
         w1 failed 1/10:0-18
         w1 wants 10         -> lease 2: 10:20-39
         w1 failed 1/10:19   -> noted
         w1 wants 10         -> wait
         w1 failed 2/10:20-39
         w1 wants 10         -> wait
         w2 wants 1          -> lease 3: 10:0
         w2 played 3/10:0    -> counts
         w1 wants 10         -> wait
         100s pass           ->
         w2 beats            ->
         20s pass            ->
         w2 beats            ->
         w1 wants 10         -> lease 4: 10:1",
    );
}

/// That some fail is of the games, perhaps.
#[test]
fn who_plays_some_goes_on() {
    check(
        "submit e1 10x80     ->
         w2 beats            ->
         w1 wants 10         -> lease 1: 10:0-19
         w1 failed 1/10:0-18
         w1 played 1/10:19   -> counts
         w1 wants 10         -> lease 2: 10:20-49
         w1 failed 2/10:20-38
         w1 wants 10         -> lease 3: 10:50-63",
    );
}

/// Where all fails, each has what failed at the other, and nobody waits for ever.
#[test]
fn who_fails_always_tries_what_failed_at_others() {
    check(
        "submit e1 10x80     ->
         w1 wants 10         -> lease 1: 10:0-19
         w2 wants 10         -> lease 2: 10:20-39
         w1 failed 1/10:0-19
         w2 failed 2/10:20-39
         w1 wants 10         -> lease 3: 10:20
         w2 wants 10         -> lease 4: 10:0
         w2 failed 4/10:0    -> noted
         w2 wants 10         -> lease 5: 10:0",
    );
}

/// Who is excluded plays nothing, though it asks.
#[test]
fn who_is_excluded_is_not_waited_for() {
    check(
        "submit e1 10x2            ->
         exclude w2 from e1        ->
         w2 wants 1                -> excluded
         w1 wants 1                -> lease 1: 10:0-1
         w1 failed 1/10:0          -> noted
         w1 wants 1                -> lease 2: 10:0",
    );
}

/// Games of others, on which somebody does well, say nothing of those that failed.
#[test]
fn who_plays_none_of_its_games_is_no_measure() {
    let mut story = failed_once(60);
    let mut lease = 1;
    let mut add = |worker: &str, game: u64, outcome: &str| {
        lease += 1;
        story += &format!("{worker} wants 1 -> lease {lease}: 10:{game}\n");
        story += &format!("{worker} {} {lease}/10:{game} {}\n", &outcome[..6], &outcome[6..]);
    };
    for game in 0..2 {
        add("w2", game, "failed");
        add("w3", game, "played");
    }
    (2..30).for_each(|game| add("w3", game, "played"));
    // The second worker will have two faults of twelve games.
    for game in 30..40 {
        add("w1", game, "failed");
        add("w2", game, "played-> counts");
    }
    // And now of sixteen: it is one that does well.
    (40..44).for_each(|game| add("w2", game, "played-> counts"));
    add("w1", 44, "failed");
    add("w2", 44, "played-> counts, quarantine w1 (11 of 11)");
    check(&story);
}

/// What failed before somebody let it in is not held against it.
#[test]
fn whoever_is_let_in_begins_anew() {
    let mut story = String::from(
        "submit e1 10x40     ->
         w2 beats            ->
         w1 wants 10         -> lease 1: 10:0-19
         w1 failed 1/10:0-19
         ",
    );
    for game in 0..20 {
        if game == 10 {
            story += "w1 wants 1 -> quarantined\n readmit w1 ->\n";
        }
        let lease = game + 2;
        let quarantine = if game == 9 { ", quarantine w1 (10 of 10)" } else { "" };
        story += &format!(
            "w2 wants 1          -> lease {lease}: 10:{game}
             w2 played {lease}/10:{game} -> counts{quarantine}\n"
        );
    }
    check(&(story + "w1 wants 1 -> lease 22: 10:20-29"));
}
