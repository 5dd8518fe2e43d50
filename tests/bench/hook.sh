#!/bin/bash
# hook.sh - cost of one recorded call on MPI_COMM_SELF, as one JSON object: for each library and operation (rows) the median over
# three processes of what hook.c prints; the worst of the collectives (p50, p999, clocks, ratio); the worst of the rows that pass
# messages (message_p50, message_ratio) and its calls (message_row); calls on many requests (many).  Needs
# top_builddir, top_srcdir.  See hook.c for the method.
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

dir=$(mktemp -d /dev/shm/syncguard-bench.XXXXXX) || exit 2
trap 'rm -rf "$dir"' EXIT

for mpi in openmpi mpich openmpi mpich openmpi mpich; do # three processes each: where its code lies makes some nanoseconds
    hook=$top_builddir/tests/bench/hook.$mpi
    [ -x "$hook" ] || continue
    case $mpi in
    openmpi) library=libmpi.so.40 ;;
    *) library=libmpich.so.12 ;;
    esac
    rm -rf "$dir/step"
    mkdir "$dir/step"
    SYNCGUARD_DIR=$dir/step LD_PRELOAD=$top_builddir/.libs/libsyncguard_probe.so \
        timeout 300 "$hook" "$library" >"$dir/out" || exit 1
    sed "s/^{/row {\"library\": \"$mpi\", /" "$dir/out" >>"$dir/all"
    "$top_builddir/sgring" --json "$dir/step" |
        sed -n "s/.*\"events\":\([0-9]*\),\"dropped\":\([0-9]*\).*/$mpi ring \1 \2/p" >>"$dir/all"
done

python3 - "$dir/all" <<'END'
import json, statistics, sys
rows, recorded, dropped = [], 0, 0
for line in open(sys.argv[1]):
    if line.startswith("row "):
        rows.append(json.loads(line[4:]))
    else:
        recorded, dropped = recorded + int(line.split()[2]), dropped + int(line.split()[3])
if not rows:
    sys.exit(1)
runs = {}
for row in rows:
    runs.setdefault((row["library"], row["op"], row.get("requests")), []).append(row)
rows = [{key: same[0][key] if isinstance(same[0][key], str) else round(statistics.median(r[key] for r in same), 3) for key in same[0]}
        for same in runs.values()]
many = [r for r in rows if "requests" in r]
rows = [r for r in rows if r not in many]
collectives = [r for r in rows if r["op"] in ("Barrier", "Allreduce")]
passing = [r for r in rows if r not in collectives]
worst = {key: max(r[key] for r in collectives) for key in ("p50", "p999", "clocks", "ratio")}
# Of another method the least is the fair one to compare with.
least = {key: min(r[key] for r in collectives) for key in ("mpip_p50", "mpip_ratio")}
slowest = max(passing, key=lambda r: r["ratio"])
worst.update({"message_p50": max(r["p50"] for r in passing), "message_ratio": slowest["ratio"],
              "message_row": f"{slowest['library']}: {slowest['op']}"})
print(json.dumps({**worst, **least, "recorded": recorded, "dropped": dropped, "rows": rows, "many": many}))
END
