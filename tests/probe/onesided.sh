#!/bin/bash
# The probe sees how long one-sided calls hold a rank, in fences and at locks, and changes no result.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/workloads/mpi.sh"

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/onesided
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"

# The time in point-to-point and one-sided calls before the first barrier (fences), before the third
# (locks), in ms; bytes that were put.
cat >"$dir/held.py" <<'END'
import json, sys
held = {}
for ring in json.load(sys.stdin)["rings"]:
    barriers = [e for e in ring["events"] if e["op"] == "barrier"]
    held[ring["rank"]] = (1e3 * barriers[0]["p2p_s"], 1e3 * barriers[2]["p2p_s"], ring["counts"]["p2p_bytes"])
    if len(barriers) != 5:
        sys.exit(f"rank {ring['rank']} has {len(barriers)} barriers")
print(", ".join("rank %d %.0f ms at fences, %.0f ms at locks" % (r, *h[:2]) for r, h in sorted(held.items())))
# Each of the others waits for rank 0 at one fence and at its lock.
least = .6 * float(sys.argv[1])
sys.exit(any(h[0] - held[0][0] < least or h[1] - held[0][1] < least for r, h in held.items() if r) or
         any(h[2] < 20 * 64 * 8 for h in held.values()))
END

for mpi in $libraries; do
    mpi_run "$mpi" 4 "$program.$mpi" 0 2>"$dir/err" | sort >"$dir/want"
    rm -rf "$dir/step"
    mkdir -m 700 "$dir/step"
    mpi_run "$mpi" 4 env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$program.$mpi" 500 2>"$dir/err" | sort >"$dir/got"
    [ "$(grep -c ' done$' "$dir/want")" = 4 ] && cmp -s "$dir/want" "$dir/got"
    ok $? "$mpi: one-sided calls have the same results with and without the probe" ||
        sed 's/^/# /' "$dir/want" "$dir/got" "$dir/err" | head -n 20
    "$top_builddir/sgring" --json --events=10000 "$dir/step" >"$dir/rings"
    held=$(python3 "$dir/held.py" 500 <"$dir/rings")
    ok $? "$mpi: ranks are held at a fence and at a lock by one that is 500 ms late: $held"
done
done_testing
