#!/bin/sh
# hook.sh - cost of one recorded collective on MPI_COMM_SELF, as one JSON object: ns beyond the library's own call, for each
# library and operation (rows), and the worst of them (p50, p999).  Needs top_builddir, top_srcdir.  See hook.c for the method.
. "$top_srcdir/tests/workloads/mpi.sh"

dir=$(mktemp -d /dev/shm/syncguard-bench.XXXXXX) || exit 2
trap 'rm -rf "$dir"' EXIT

for mpi in openmpi mpich; do
    hook=$top_builddir/tests/bench/hook.$mpi
    [ -x "$hook" ] || continue
    case $mpi in
    openmpi) library=libmpi.so.40 ;;
    *) library=libmpich.so.12 ;;
    esac
    rm -rf "$dir/step"
    mkdir "$dir/step"
    SYNCGUARD_DIR=$dir/step LD_PRELOAD=$top_builddir/.libs/libsyncguard_probe.so \
        timeout 120 "$hook" "$library" >"$dir/out" || exit 1
    sed "s/^/$mpi /" "$dir/out" >>"$dir/all"
    "$top_builddir/sgring" --json "$dir/step" |
        sed -n "s/.*\"events\":\([0-9]*\),\"dropped\":\([0-9]*\).*/$mpi ring \1 \2/p" >>"$dir/all"
done

awk '
    $2 == "ring" { recorded += $3; dropped += $4; next }
    {
        if ($6 > p50) p50 = $6
        if ($7 > p999) p999 = $7
        rows = rows sprintf("%s\n  {\"library\": \"%s\", \"op\": \"%s\", \"bare\": %s, \"empty_wrapper\": %s, \"probe\": %s, \"p50\": %s, \"p999\": %s, \"bare_p999\": %s}",
                            rows == "" ? "" : ",", $1, $2, $3, $4, $5, $6, $7, $8)
    }
    END {
        if (rows == "")
            exit 1
        printf "{\"p50\": %.1f, \"p999\": %.1f, \"recorded\": %d, \"dropped\": %d, \"rows\": [%s]}\n", p50, p999,
               recorded, dropped, rows
    }
' "$dir/all"
