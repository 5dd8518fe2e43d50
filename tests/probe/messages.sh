#!/bin/bash
# The probe records each message at both ends, with partner, tag, size and number, and the time that a rank polled.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/workloads/mpi.sh"

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/messages
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"

# Print the streams that the rings hold, in the form of the program's output, and what was polled.
cat >"$dir/streams.py" <<'END'
import collections, json, sys
streams, polls = collections.defaultdict(lambda: [0, 0]), collections.Counter()
for ring in json.load(sys.stdin)["rings"]:
    for e in ring["events"]:
        if e["op"] in ("send", "recv"):
            s = streams[ring["rank"], e["op"], e["peer"], e["tag"]]
            s[0] += 1
            s[1] += e["bytes"]
        # what was complete at the first test was not polled for
        if (e["op"] == "barrier" and "nonblocking" in e["flags"] or e["op"] == "recv" and e["tag"] == 8) and "unwaited" not in e["flags"]:
            polls[e["op"]] += (e["leave_ns"] - e["wait_ns"]) / 1e9
if sys.argv[1] == "streams":
    for key, s in sorted(streams.items()):
        print(*key, *s)
else: # sums of all ranks, by the rings and by the program's own clock, which it reads a moment earlier and later
    own = [line.split() for line in open(sys.argv[2]) if " polled " in line]
    sums = [(op, polls[op], sum(float(line[2 + i]) for line in own)) for i, op in enumerate(("recv", "barrier"))]
    print(", ".join("%s %.1f of %.1f ms" % (op, 1e3 * ring, 1e3 * program) for op, ring, program in sums))
    sys.exit(any(not program / 2 <= ring <= program * 1.01 for op, ring, program in sums))
END

for mpi in $libraries; do
    for n in 2 4; do
        rm -rf "$dir/step"
        mkdir -m 700 "$dir/step"
        mpi_run "$mpi" $n env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$program.$mpi" 0.3 >"$dir/out" 2>&1 &&
            [ "$(grep -c ' done$' "$dir/out")" -eq $n ]
        ok $? "$mpi: a guarded program of $n ranks that only passes messages exits with 0" || sed 's/^/# /' "$dir/out" | head
        "$top_builddir/tests/probe/compare" "$dir/step" - $n >"$dir/compare" 2>&1
        ok $? "$mpi: both ends of each message agree: $(tail -n 1 "$dir/compare")" || sed 's/^/# /' "$dir/compare" | head
        "$top_builddir/sgring" --json --events=10000 "$dir/step" >"$dir/rings"
        python3 "$dir/streams.py" streams <"$dir/rings" | sort >"$dir/got"
        grep -E '^[0-9]+ (send|recv) ' "$dir/out" | sort >"$dir/want"
        cmp -s "$dir/want" "$dir/got"
        ok $? "$mpi: the rings of $n ranks hold the streams that the program passed: $(wc -l <"$dir/got")" ||
            diff "$dir/want" "$dir/got" | sed 's/^/# /' | head -n 20
        python3 "$dir/streams.py" polls "$dir/out" <"$dir/rings" >"$dir/polls"
        ok $? "$mpi: what was polled held the rank from the first test to the last: $(cat "$dir/polls")"
    done
done
done_testing
