#!/bin/bash
# The probe records each message at both ends, with partner, tag, size and number, and the time that a rank polled.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/messages
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"

# Print the streams that the rings hold, in the form of the program's output, and what was polled.
cat >"$dir/streams.py" <<'END'
import collections, json, sys
streams, polls, complete = collections.defaultdict(lambda: [0, 0]), collections.Counter(), collections.Counter()
for ring in json.load(sys.stdin)["rings"]:
    for e in ring["events"]:
        if e["op"] in ("send", "recv"):
            s = streams[ring["rank"], e["op"], e["peer"], e["tag"]]
            s[0] += 1
            s[1] += e["bytes"]
        # what was complete at the first test was not polled for
        if (e["op"] == "barrier" and "nonblocking" in e["flags"] or e["op"] == "recv" and e["tag"] == 8) and "unwaited" not in e["flags"]:
            polls[e["op"]] += (e["leave_ns"] - e["wait_ns"]) / 1e9
        complete[ring["rank"]] += e["op"] == "recv" and e["tag"] == 16 and "unwaited" in e["flags"]
if sys.argv[1] == "streams":
    for key, s in sorted(streams.items()):
        print(*key, *s)
elif sys.argv[1] == "complete":
    for rank in range(int(sys.argv[2])):
        print(rank, "busy", complete[rank])
else: # sums of all ranks, by the rings and by the program's own clock, which it reads both inside and outside of what the probe measures
    own = [line.split() for line in open(sys.argv[2]) if " polled " in line]
    sums = [(op, polls[op], *(sum(float(line[at]) for line in own) for at in (4 + i, 2 + i))) for i, op in enumerate(("recv", "barrier"))]
    print(", ".join("%s %.1f ms, between %.1f and %.1f" % (op, *(1e3 * s for s in three)) for op, *three in sums))
    # 1 %: the ring's clock is the processor's counter
    sys.exit(any(not (0 < least and least * .99 <= ring <= most * 1.01) for op, ring, least, most in sums))
END

for mpi in $libraries; do
    for n in 2 4; do
        mpi_guarded "$mpi" $n "$program.$mpi" 5 >"$dir/out" 2>&1 &&
            [ "$(grep -c ' done$' "$dir/out")" -eq $n ]
        ok $? "$mpi: a guarded program of $n ranks that only passes messages exits with 0" || sed 's/^/# /' "$dir/out" | head
        "$top_builddir/tests/probe/compare" "$dir/step" - $n >"$dir/compare" 2>&1
        ok $? "$mpi: both ends of each message agree, on $n ranks" || sed 's/^/# /' "$dir/compare" | head
        echo "# $(tail -n 1 "$dir/compare")"
        "$top_builddir/sgring" --json --events=10000 "$dir/step" >"$dir/rings"
        python3 "$dir/streams.py" streams <"$dir/rings" | sort >"$dir/got"
        grep -E '^[0-9]+ (send|recv) ' "$dir/out" | sort >"$dir/want"
        cmp -s "$dir/want" "$dir/got"
        ok $? "$mpi: the rings of $n ranks hold the streams that the program passed" ||
            diff "$dir/want" "$dir/got" | sed 's/^/# /' | head -n 20
        python3 "$dir/streams.py" polls "$dir/out" <"$dir/rings" >"$dir/polls"
        ok $? "$mpi: what was polled held the rank from the first test to the last, on $n ranks"
        echo "# $(cat "$dir/polls")"
        is "$(python3 "$dir/streams.py" complete $n <"$dir/rings")" "$(grep ' busy ' "$dir/out" | sort)" \
            "$mpi: what came while the program did something else did not hold the rank, on $n ranks"
    done
done
done_testing
