#!/bin/bash
# The probe sees how long one-sided calls hold a rank, in fences and at locks, and what is read and written behind a lock; it changes
# no result.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/onesided
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"

# The time in point-to-point and one-sided calls of the fence and of the locks to which rank 0 comes late, which are before the second barrier
# and before the fifth, in s; bytes that were put.
cat >"$dir/held.py" <<'END'
import json, sys
least, bad = float(sys.argv[1]), False
for ring in json.load(sys.stdin)["rings"]:
    barriers = [e["p2p_s"] for e in ring["events"] if e["op"] == "barrier"]
    if len(barriers) != 7:
        sys.exit(f"rank {ring['rank']} has {len(barriers)} barriers")
    fence, lock, put = barriers[1], barriers[4], ring["counts"]["p2p_bytes"]
    print(f"rank {ring['rank']}: {1e3 * fence:.0f} ms at the fence, {1e3 * lock:.0f} ms at the locks, {put} bytes")
    bad |= put < 20 * 64 * 8 or ring["rank"] != 0 and min(fence, lock) < least
sys.exit(bad)
END
# Accesses to another rank's memory: what rank 0 writes and flushes, what the others add there, and 20 numbers that are fetched and added
# to before they are flushed.  There are none of a rank to its own memory, none between fences and none with nothing passed.
cat >"$dir/accesses.py" <<'END'
import json, sys
rings = json.load(sys.stdin)["rings"]
world = next(e["comm"] for e in rings[0]["events"] if e["op"] == "barrier")
for ring in sorted(rings, key=lambda r: r["rank"]):
    of = [e for e in ring["events"] if e["op"] == "access"]
    if any(e["comm"] != world or e["leave_ns"] < e["enter_ns"] for e in of):
        sys.exit(f"rank {ring['rank']}: {of}")
    print(ring["rank"], [(e["peer"], e["seq"], e["read_bytes"], e["bytes"]) for e in of])
END
# Every rank but the first has been in such a call for so many seconds.
cat >"$dir/waiting.py" <<'END'
import json, sys
live = {ring["rank"]: ring["live"] for ring in json.load(sys.stdin)["rings"]}
held = [r for r, l in live.items() if r and l and l["op"] == "point_to_point" and l["age_s"] >= float(sys.argv[1])]
sys.exit(len(held) != 3)
END
waiting() { "$top_builddir/sgring" --json "$dir/step" 2>/dev/null | python3 "$dir/waiting.py" $least 2>/dev/null; }

# Rank 0 comes when all the others have been seen to wait for it, however long they take to get there.
least=0.2
hold() { # WHERE
    wait_for 120 test -e "$dir/late" && wait_for 120 waiting
    ok $? "$mpi: the ring says of three ranks that they are in a one-sided call while the fourth does not come to $1" ||
        "$top_builddir/sgring" "$dir/step" | grep live | sed 's/^/# /'
    rm -f "$dir/late"
}

for mpi in $libraries; do
    mpi_run "$mpi" 4 "$program.$mpi" 2>"$dir/err" | sort >"$dir/want"
    mpi_guarded "$mpi" 4 "$program.$mpi" "$dir/late" >"$dir/unsorted" 2>"$dir/err" &
    running=$!
    hold "a fence"
    hold "unlock"
    wait $running
    sort "$dir/unsorted" >"$dir/got"
    [ "$(grep -c ' done$' "$dir/want")" = 4 ] && cmp -s "$dir/want" "$dir/got"
    ok $? "$mpi: one-sided calls have the same results with and without the probe" ||
        sed 's/^/# /' "$dir/want" "$dir/got" "$dir/err" | head -n 20
    "$top_builddir/sgring" --json --events=10000 "$dir/step" >"$dir/rings"
    python3 "$dir/held.py" $least <"$dir/rings" >"$dir/held" 2>&1
    ok $? "$mpi: the rings have how long three ranks are held at a fence and at a lock, and what was put"
    sed 's/^/# /' "$dir/held"
    for rank in 0 1 2 3; do
        [ $rank = 1 ] && echo '1 []' || echo "$rank [(1, 0, 0, 8), (1, 1, 160, 160)]"
    done >"$dir/want"
    python3 "$dir/accesses.py" <"$dir/rings" >"$dir/got" 2>&1
    cmp -s "$dir/want" "$dir/got"
    ok $? "$mpi: the rings have each access to another rank's memory behind a lock, and what it read and wrote" || sed 's/^/# /' "$dir/got"
done
done_testing
