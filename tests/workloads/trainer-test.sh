#!/bin/bash
# The trainer: it learns, it repeats itself bit by bit, it survives what training jobs go through.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/runs.sh" || exit 99

common='--batch 32 --hidden 48 --context 6 --embed 8'
[ -d /usr/share/common-licenses ] || common="$common --text $top_srcdir/LICENSE"
runs_of trainer

field() { sed -n "s/^$2: .* $3 \([^ ]*\).*/\1/p" "$dir/$1"; } # field NAME LINE KEY

learns() {
    run learns 4 --steps 150 --eval-every 50 --sample 40
    ok $? "$mpi: the trainer does 150 steps on 4 ranks"
    loss=$(field learns result loss)
    awk -v l="$loss" 'BEGIN { exit !(l > 0 && l < 2.8) }'
    ok $? "$mpi: the loss falls from 4.5 below 2.8" || echo "# $loss"
    [ "$(sed -n '/^sample:/,/^end of sample/p' "$dir/learns" | wc -c)" -gt 50 ]
    ok $? "$mpi: --sample 40 prints a sample"
    [ "$(grep -c '^eval: step' "$dir/learns")" -eq 3 ]
    ok $? "$mpi: --eval-every 50 evaluates 3 times in 150 steps"
}

repeats() {
    run again 4 --steps 150 --loader
    same learns again 'a second run, without evaluation and with a loader, gives the same bits'
    run other 4 --steps 150 --seed 2
    [ "$(result other)" != "$(result learns)" ]
    ok $? "$mpi: another --seed gives another result"
    for ways in '--overlap' '--inner 2' '--overlap --inner 2 --buckets 7'; do
        # shellcheck disable=SC2086
        run first 4 --steps 40 $ways
        # shellcheck disable=SC2086
        run second 4 --steps 40 $ways
        same first second "two runs with $ways give the same bits"
    done
}

restarts() {
    run whole 2 --steps 60
    run half 2 --steps 30 --checkpoint "$dir/ck" --checkpoint-every 10
    run rest 2 --steps 60 --checkpoint "$dir/ck" --restart
    grep -q 'restart: from step 30' "$dir/rest"
    ok $? "$mpi: --restart continues from the checkpoint of step 30"
    same whole rest 'a restarted run ends as the uninterrupted one, bit by bit'
    run anew 2 --steps 60 --checkpoint "$dir/absent.ck" --restart=auto
    same whole anew '--restart=auto without a checkpoint starts from the beginning'
    run refused 2 --steps 60 --checkpoint "$dir/ck" --restart --seed 5
    [ $? -eq 1 ] && grep -q 'of another run' "$dir/refused"
    ok $? "$mpi: a checkpoint of a run with another seed is rejected"
    cp "$dir/ck" "$dir/cut.ck" && truncate -s -100 "$dir/cut.ck"
    run cut 2 --steps 60 --checkpoint "$dir/cut.ck" --restart
    [ $? -eq 1 ] && grep -q 'damaged' "$dir/cut"
    ok $? "$mpi: a truncated checkpoint is rejected as damaged"
}

newer() { [ "$(stat -c %i.%y "$dir/kill.ck" 2>/dev/null)" != "$1" ]; }

# Killed again and again while it does little but write checkpoints: what is left is whole each time.
survives_kills() {
    run calm 1 --steps 200
    rm -f "$dir/kill.ck"
    bad=0 step=0
    for round in 1 2 3 4 5 6; do
        # shellcheck disable=SC2086
        "$program.$mpi" $common --steps 100000 --checkpoint "$dir/kill.ck" --checkpoint-every 1 --restart=auto \
            >"$dir/killed.$round" 2>&1 &
        victim=$!
        # It is writing another one by then, or is about to: each round some checkpoints later.
        for _ in $(seq "$round"); do
            wait_for 120 newer "$(stat -c %i.%y "$dir/kill.ck" 2>/dev/null)" || bad=1
        done
        kill -9 $victim
        wait $victim 2>/dev/null
        # shellcheck disable=SC2086
        run probe 1 --steps 1 --checkpoint "$dir/kill.ck" --restart || bad=1
        now=$(sed -n 's/^restart: from step //p' "$dir/probe")
        [ "${now:-0}" -gt "$step" ] || bad=1
        step=${now:-0}
    done
    [ "$bad" -eq 0 ] && [ "$step" -gt 0 ]
    ok $? "$mpi: after each of six kill -9 between checkpoints the file is whole and newer"
    echo "# step $step after the last"
}

refuses() {
    for bad in '--batch 0' '--batch x' '--hidden 1e9' '--nonsense' '--steps' '--restart=maybe --checkpoint f' \
        '--restart' '--checkpoint-every 5' '--overlap=3' 'stray'; do
        rejects "$bad"
    done
    run inner 3 --inner 2 --steps 1
    [ $? -eq 1 ] && [ "$(grep -c '^trainer: ' "$dir/inner")" -eq 1 ]
    ok $? "$mpi: --inner 2 on 3 ranks is rejected by one line of one rank"
    common= run none 2 --steps 1 --text "$dir/absent"
    [ $? -eq 1 ] && grep -q 'absent: No such file' "$dir/none"
    ok $? "$mpi: --text of a missing file names it"
    "$program.$mpi" --help | grep -q -- '--checkpoint-every N'
    ok $? "$mpi: --help lists --checkpoint-every"
}

for mpi in $libraries; do
    learns
    repeats
    restarts
    survives_kills
    refuses
done
done_testing
