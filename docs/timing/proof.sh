#!/bin/sh
# What time limits are worth on a machine that is quiet, loaded or throttled, with and without scaling, and
# whether games are marked that were disturbed on purpose: the figures of docs/timing.md, "Proof".
#
#     docs/timing/proof.sh SPELRUM FOLDER [CASE]...
#
# SPELRUM is the program; FOLDER gets databases and reports. A case that was played into it is not played again.
#
#     quiet, loaded, throttled       sweeps/timing-proof.toml on an idle machine, beside a busy loop on each core,
#                                    and with half of a core's time by a quota
#     quiet-scaled and so on         the same with limits that are scaled to this machine's speed
#     quiet-first                    quiet, and before all other programs of the machine
#     disturbed                      the quiet core is taken for 1 ms of every 5 (docs/timing/bursts.rs)
#     unlike                         sweeps/pentago-time.toml on this machine, and by three workers of unlike speed
#
# Without cases all are played but the last, in sixteen minutes; that takes eight. QUOTA_US and PERIOD_US are the
# quota, SPEED the reference if it is not to be measured, GAMES how many each cell has, TIME what the timed
# player has for a move, BURSTS the compiled bursts.rs where there is no rustc.
#
# Needs Linux, two cores, root, control groups (of version 1 or 2) that root may make, taskset, chrt, setsid. Leave
# it an otherwise idle machine. Its group and its busy loops end with it, also by Ctrl-C.

set -eu

fail() {
    echo "error: $1" >&2
    echo "help: $2" >&2
    exit 1
}

[ $# -ge 2 ] || fail "two arguments are needed" "$0 target/release/spelrum FOLDER [CASE]..."
case $1 in /*) spelrum=$1 ;; *) spelrum=$PWD/$1 ;; esac
[ -x "$spelrum" ] || fail "$1 is no program" "build it: cargo build --release"
here=$(cd "$(dirname "$0")" && pwd)
sweeps=$here/../../sweeps
mkdir -p "$2"
cd "$2"
shift 2
[ $# -gt 0 ] || set -- quiet loaded throttled quiet-scaled loaded-scaled throttled-scaled disturbed quiet-first
bursts=
for name; do
    case $name in
    quiet | loaded | throttled | quiet-scaled | loaded-scaled | throttled-scaled | quiet-first | unlike) ;;
    disturbed) bursts=${BURSTS:-$PWD/bursts} ;;
    *) fail "there is no case $name" "see the head of $0" ;;
    esac
done

quota_us=${QUOTA_US:-1000}
period_us=${PERIOD_US:-2000}
games=${GAMES:-300}
time=${TIME:-10ms}

[ "$(uname)" = Linux ] || fail "this is not Linux" "quiet slots and quotas are there alone"
[ "$(id -u)" = 0 ] || fail "only root may make control groups" "sudo $0"
[ "$(nproc)" -ge 2 ] || fail "there is one core" "two are needed for one quiet slot"
for program in taskset chrt setsid; do
    command -v $program >/dev/null || fail "$program is not there" "install util-linux"
done
if [ -n "$bursts" ] && [ ! -x "$bursts" ]; then
    command -v rustc >/dev/null || fail "rustc is not there" "set BURSTS to the compiled $here/bursts.rs"
    rustc --edition 2024 -O "$here/bursts.rs" -o "$bursts"
fi

# The group in which games are played.
if [ -e /sys/fs/cgroup/cpu/cgroup.procs ]; then
    version=1 root=/sys/fs/cgroup/cpu
elif grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
    version=2 root=/sys/fs/cgroup
    echo +cpu >$root/cgroup.subtree_control 2>/dev/null ||
        fail "$root hands out no CPU time" "run it outside of containers"
else
    fail "there are no control groups of CPU time" "mount them at /sys/fs/cgroup"
fi
group=$root/spelrum-proof-$$
mkdir "$group" 2>/dev/null || fail "$root cannot be written" "run it outside of containers"

# What runs beside the games: busy loops, or a coordinator.
beside=

tidy() {
    trap - EXIT INT TERM
    for process in $beside; do kill "$process" 2>/dev/null || :; done
    # The group goes when the last of its processes has. They end after their games, and the second time at once.
    for signal in TERM TERM KILL KILL KILL; do
        ! rmdir "$group" 2>/dev/null || return 0
        while read -r process; do kill -$signal "$process" 2>/dev/null || :; done <"$group/cgroup.procs"
        sleep 1
    done
    rmdir "$group" || echo "warning: $group is still there" >&2
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A quota in each period, or "max", and whether the group goes before all others. (By its weight: Linux shares
# cores between groups first, and then between the programs in them, whatever these are by `nice`.)
group_gets() { # QUOTA_US PERIOD_US first|equal
    if [ $version = 1 ]; then
        echo -1 >"$group/cpu.cfs_quota_us"
        echo "$2" >"$group/cpu.cfs_period_us"
        [ "$1" = max ] || echo "$1" >"$group/cpu.cfs_quota_us"
        if [ "$3" = first ]; then echo 65536; else echo 1024; fi >"$group/cpu.shares"
    else
        echo "$1 $2" >"$group/cpu.max"
        if [ "$3" = first ]; then echo 10000; else echo 100; fi >"$group/cpu.weight"
    fi
}

within_group() {
    sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" "$@"
}

# A busy loop on each core, each in a session of its own, so that the system takes it for somebody else's.
load() {
    for core in $(seq 0 $(($(nproc) - 1))); do
        setsid taskset -c "$core" sh -c 'while :; do :; done' &
        beside="$beside $!"
    done
}

unload() {
    for process in $beside; do
        kill "$process" 2>/dev/null || :
        wait "$process" 2>/dev/null || :
    done
    beside=
}

# Where the thread of the slot is kept, once timed games are played.
quiet_core() {
    for _ in $(seq 100); do
        while read -r process; do
            for thread in /proc/"$process"/task/*; do
                [ "$(cat "$thread/comm" 2>/dev/null)" = "slot 0" ] || continue
                core=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "$thread/status")
                case $core in *[!0-9]*) ;; ?*) echo "$core" && return ;; esac
            done
        done <"$group/cgroup.procs"
        sleep 0.1
    done
    fail "no thread is kept on a core" "spelrum run says at its start why no slot is quiet"
}

# What limits are scaled to: measured once for all cases.
speed() {
    if [ -n "${SPEED:-}" ]; then
        echo "$SPEED" >speed
    elif [ ! -s speed ]; then
        group_gets max "$period_us" equal
        within_group "$spelrum" speed pentago --slots 1 --json >speed.json
        tr -d ' \n' <speed.json | sed 's/.*"nodes_per_second":\([0-9]*\).*/\1/' >speed
    fi
    cat speed
}

play() { # CASE
    name=$1
    rm -f "$name".db*
    set -- --set games="$games" --set players.timed.move_time="$time"
    case $name in *-scaled) set -- "$@" --set timing.reference_speed="$(speed)" ;; esac
    case $name in
    throttled*) group_gets "$quota_us" "$period_us" equal ;;
    *-first) group_gets max "$period_us" first ;;
    *) group_gets max "$period_us" equal ;;
    esac
    case $name in loaded*) load ;; esac
    within_group "$spelrum" run "$sweeps/timing-proof.toml" --slots 1 --db "$name.db" "$@" >"$name.txt" 2>"$name.err" &
    run=$!
    if [ "$name" = disturbed ]; then
        core=$(quiet_core)
        chrt -f 50 taskset -c "$core" "$bursts" &
        beside=$!
        # What was played before is left out below.
        sleep 1
        date +%s >"$name.since"
    fi
    wait "$run" || fail "$name was not played" "see $PWD/$name.err"
    unload
}

# This machine alone, and then three workers of one coordinator in turns, since there is one quiet core: one
# with the whole of it, one with half, one with a third.
play_unlike() {
    sweep=$sweeps/pentago-time.toml
    # Periods of 2 and 3 ms are longer than a tenth of some limits: without this workers would get none of these.
    set -- --set games="${UNLIKE_GAMES:-100}" --set timing.reference_speed="$(speed)" --set placement.quota_period_max=1
    rm -f one.db* three.db* workers.err
    group_gets max "$period_us" first
    within_group "$spelrum" run "$sweep" --slots 1 --db one.db "$@" >one.txt 2>one.err &
    wait $! || fail "one machine did not play" "see $PWD/one.err"

    url=http://127.0.0.1:${PORT:-7919}
    "$spelrum" coordinator --db three.db --listen "${url#http://}" >coordinator.txt 2>coordinator.err &
    beside=$!
    for _ in $(seq 50); do
        ! "$spelrum" submit "$sweep" --coordinator "$url" "$@" >submit.txt 2>&1 || break
        sleep 0.2
    done
    share=0
    while :; do
        share=$((share % 3 + 1))
        if [ $share = 1 ]; then quota=max; else quota=1000; fi
        group_gets $quota $((share * 1000)) first
        within_group timeout -s INT 20 "$spelrum" worker --coordinator "$url" --slots 1 --name "1/$share" \
            --exit-when-done 2>>workers.err &
        ended=0
        wait $! || ended=$?
        case $ended in
        0) break ;;
        124) ;;
        *) fail "a worker ended with $ended" "see $PWD/workers.err" ;;
        esac
    done
    unload
}

ask() { # CASE SQL
    "$spelrum" sql --db "$1.db" --csv "$2" >answer.csv
    tr -d '\r' <answer.csv | sed '1d; s/^"//; s/"$//; s/""/"/g'
}

# One line, and whether the control has the games of the first case, move by move.
tell() { # CASE
    since=0
    [ ! -e "$1.since" ] || since=$(cat "$1.since")000000
    ask "$1" "SELECT g.number || ' ' || m.ply || ' ' || m.move || ' ' || m.nodes AS move
        FROM games AS g JOIN moves AS m USING (game_id)
        WHERE g.cell_id = (SELECT cell_id FROM results WHERE player = 'counted')
        ORDER BY g.number, m.ply" >"$1.control"
    if cmp -s "$first.control" "$1.control"; then same=yes; else same=no; fi
    ask "$1" "
        WITH timed_games AS (
            SELECT * FROM games WHERE counted = 1 AND started_unix_us >= $since
            AND cell_id = (SELECT cell_id FROM results WHERE player = 'timed')),
        timed AS (
            SELECT *, wall_us - cpu_us > 100 AS robbed FROM limited_moves
            WHERE ended_by = 'time' AND game_id IN (SELECT game_id FROM timed_games)),
        control AS (
            SELECT 1e3 * sum(m.cpu_us) / sum(m.nodes) AS ns FROM games AS g JOIN moves AS m USING (game_id)
            WHERE g.cell_id = (SELECT cell_id FROM results WHERE player = 'counted')),
        scores AS (
            SELECT player, printf('%.3f (%.3f–%.3f)', score, score_low, score_high) AS score FROM results)
        SELECT '| $1 | ' || (SELECT score FROM scores WHERE player = 'timed')
            || ' | ' || (SELECT score FROM scores WHERE player = 'counted')
            || printf(' | $same | %.1f', (SELECT ns FROM control))
            || printf(' | %,d | %,d', count(*), median(nodes))
            || printf(' | %,d', (SELECT median(nodes) FROM timed WHERE ply = 0))
            || printf(' | %.2f | %.2f', median(wall_us) / 1e3, quantile(wall_us, 0.99) / 1e3)
            || printf(' | %.2f', quantile(overrun_us, 0.99) / 1e3)
            || CASE WHEN max(time_factor) IS NULL THEN ' | -' ELSE printf(' | %.3f', avg(time_factor)) END
            || printf(' | %.1f %% | %.1f %% |', 100 * avg(robbed),
                (SELECT 100 * avg(disturbed) FROM timed_games))
            AS line
        FROM timed"
}

tell_unlike() {
    for name in one three; do
        ask $name "SELECT axes || ' ' || opponent
            || printf(': %d games, %.3f (%.3f–%.3f)', games, score, score_low, score_high) AS line
            FROM results ORDER BY cell_number" >$name.scores
    done
    paste -d ' ' one.scores three.scores | sed 's/) time=.* games,/), three workers:/'
    ask three "SELECT 'worker ' || w.name || printf(': %d games, limits %.2f to %.2f times as long', count(*),
        min(g.time_factor), max(g.time_factor)) AS line
        FROM games AS g JOIN workers AS w USING (worker_id) GROUP BY w.name"
    "$spelrum" report --db three.db --table worker-effects
}

for name; do
    [ ! -e "$name.finished" ] || continue
    echo "$(date +%T) $name" >&2
    case $name in unlike) play_unlike ;; *) play "$name" ;; esac
    touch "$name.finished"
done

first=
for name; do
    [ "$name" != unlike ] || continue
    if [ -z "$first" ]; then
        first=$name
        echo "| case | timed against counted | counted against half | same games | its ns a node | moves | nodes | first nodes | wall ms | 99% | overrun 99% | factor | robbed | disturbed |"
        echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    fi
    tell "$name"
done
[ ! -s speed ] || echo "reference_speed = $(cat speed)"
case " $* " in *" unlike "*) tell_unlike ;; esac
