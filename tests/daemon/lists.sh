#!/bin/bash
# Lists longer than an answer: of many steps that ended and many that run, everything is listed, to the user whose they are and to operators.
# A few hundred steps; on a machine with nothing else to do, with SYNCGUARD_MEASURE=yes, 10,000 that ended and 1,000 of 1,024 ranks that
# run, and the time and memory that questions take.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
ended=300 running=30 ranks=64 step=1 health=1
[ "${SYNCGUARD_MEASURE-}" != yes ] || ended=10000 running=1000 ranks=1024 step=60 health=3600
ulimit -n "$(ulimit -Hn)"
cp "$(readlink -f "$top_builddir/sgctl")" "$dir/sgctl" && chmod 755 "$dir/sgctl"
sgctl() { timeout 120 "$dir/sgctl" --timeout 60 "$@"; }
# An ordinary user, where the test may become one.
owner=$(id -u) other=65533
as_owner() { "$@"; }
if [ "$owner" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    owner=65534
    as_owner() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
fi
theirs() { as_owner timeout 120 "$dir/sgctl" --timeout 60 "$@"; }
rows() { jq ".$1 | length"; }
each_once() { jq -r ".$1[] | .id // .node" | sort | uniq -d | wc -l; }

# What an operator does for a user of 1,000 steps: half of the steps' ranks would have no room otherwise.
[ "${SYNCGUARD_MEASURE-}" != yes ] || printf '%s\n' UserMemory=32G Memory=64G UserLoad=100% >>"$SYNCGUARD_CONF"
"$top_builddir/tests/daemon/fill" "$SYNCGUARD_CONF" $ended "$owner" $other >"$dir/fill.out"
is $? 0 "a history of $ended steps is written" || show "$dir/fill.out"
sed 's/^/# /' "$dir/fill.out"
controller_start
is $? 0 "the controller answers"
job_start --jobs $running --job 700001 --per-node $ranks --nodes 1 --step $step --health $health --uid "$owner"
all_run() { [ "$(sgctl status --json | jq '.jobs == '"$running"' and .ranks == '"$((running * ranks))")" = true ]; }
wait_for 600 all_run
is $? 0 "$running steps of $ranks ranks run" || show "$dir/simjob.log"

# What is asked, with what, and how many rows come: the whole, and that of the owner of half of what ended and of all that runs.
actions=$((ended / 10 < 200 ? ended / 10 : 200)) audit=$((ended / 10 < 50 ? ended / 10 : 50))
owners_ended=$((owner == 65534 ? ended / 2 : ended))
check() { # QUESTION... LIST OPERATOR'S OWNER'S
    local question=("${@:1:$#-3}") list=${*:$#-2:1} all=${*:$#-1:1} own=${*:$#:1}
    sgctl "${question[@]}" --json >"$dir/all" && theirs "${question[@]}" --json >"$dir/own"
    is "$(rows "$list" <"$dir/all") $(rows "$list" <"$dir/own")" "$all $own" "sgctl ${question[*]}: all rows, to an operator and to the owner"
    is "$(each_once "$list" <"$dir/all") $(jq '(.page, .left_out) // empty' "$dir/all" "$dir/own" | wc -l)" "0 0" \
        "sgctl ${question[*]}: each row once, none left out"
}
check jobs jobs $running $running
check jobs --finished --newest 100000 jobs $((running + ended)) $((running + owners_ended))
check jobs --finished --newest 50 jobs $((running + 50)) $((running + 50))
# An operator sees the nodes of the history, too, once they are scored.
past=16
all_scored() { [ "$(sgctl nodes --json | rows nodes)" = $((running + past)) ]; }
wait_for 120 all_scored
check nodes nodes $((running + past)) $running
check actions actions $actions $actions
is "$(sgctl jobs --finished --newest 100000 | grep -cE '^[0-9]+\.0 ')" $((running + ended)) "sgctl jobs --finished prints a line for each step"
is "$(sgctl jobs --finished --newest 7 --json | jq -r '[.jobs['$running':][].job] | join(" ")')" \
    "$(seq -s ' ' $ended -1 $((ended - 6)))" "the newest of those that ended come first"
is "$(sgctl jobs --json | jq .ended) $(theirs jobs --json | jq .ended)" "$ended $owners_ended" "the answer has how many ended that the asker may see"
is "$(sgctl audit --json | rows audit) $(theirs audit --json | rows audit)" "$audit $audit" "sgctl audit: all rows, to an operator and to the owner"
pages=$(sgctl jobs --finished --newest 100000 --json | jq -c '.jobs[]' | awk '{ n += length + 1 } END { print n / 262144 }')
[ "${pages%.*}" -ge 1 ]
ok $? "the list of jobs is longer than a page"
echo "# pages: $pages"

"$top_builddir/sgtop" --dump --size=80x24 >"$dir/top"
is "$? $(head -n 24 "$dir/top" | grep -cE ' 7[0-9]+\.0 ')" "0 21" "sgtop fills a screen of 80x24 with jobs" || show "$dir/top"

# How long questions take, and with how much memory: median of five, least and most.
measured() { # WHO COMMAND...
    python3 - "$@" <<'PY'
import os, statistics, sys, time
seconds, peak = [], 0
for _ in range(5):
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execvp(sys.argv[2], sys.argv[2:])
    _, _, usage = os.wait4(pid, 0)
    seconds.append(time.monotonic() - begin)
    peak = max(peak, usage.ru_maxrss / 1024)
print(f"# {sys.argv[1]}: {' '.join(w for w in sys.argv[3:] if w != '--timeout' and w != '60')}: "
      f"{statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f}), {peak:.0f} MiB")
PY
}
if [ "${SYNCGUARD_MEASURE-}" = yes ]; then
    for question in jobs "jobs --finished" "jobs --finished --newest 50" "jobs --finished --newest 100000" "jobs --finished --newest 100000 --json" nodes audit actions; do
        # shellcheck disable=SC2086
        measured operator "$dir/sgctl" --timeout 60 $question
        # shellcheck disable=SC2086
        [ "$owner" = "$(id -u)" ] || as_owner bash -c "$(declare -f measured); measured owner $dir/sgctl --timeout 60 $question"
    done
    measured operator "$top_builddir/sgtop" --dump --size=80x24
    awk '/VmRSS|VmHWM/ { printf "# controller: %s %d MiB\n", $1, $2 / 1024 }' "/proc/$controller/status"
fi
done_testing
