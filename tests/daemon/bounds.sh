#!/bin/bash
# A user floods the controller in every way that tests/daemon/hostile.c knows, while root has a job and asks: each flood is
# bounded, and root does not notice.  SECONDS_EACH: how long each lasts at least (5), which is until the job was heard meanwhile.  SYNCGUARDD: a controller with a sanitizer; its
# memory is not bounded here, and it is so slow that it may refuse a question while it checks many credentials.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
[ "$(id -u)" = 0 ] || skip_all "not root: a second user is needed"
setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || skip_all "cannot become another user"
. "$top_srcdir/tests/controller.sh" || exit 99
each=${SECONDS_EACH:-5}
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
cp "$(readlink -f "$top_builddir/tests/daemon/hostile")" "$dir/hostile" && chmod 755 "$dir/hostile"
ulimit -n "$(ulimit -Hn)"

mkdir -m 0777 "$dir/state"
controller_start
is $? 0 "the controller answers"
is "$(stat -c %a "$dir/state")" 700 "a state directory that others could write to is closed to them"
like "$(cat "$dir/syncguardd.log")" "warning: $dir/state: other users had access" "the log says that it was"
is "$(find "$dir/state" -type f -perm /077 | wc -l)" 0 "no other user may read the databases"

job_start --nodes 4 --per-node 2 --step 0.05
steps() { sgctl job 4242 --json | jq '.steps // 0'; }
counted() { [ "$(steps)" -gt 20 ]; }
wait_for 120 counted
is $? 0 "steps of root's job are counted"

milliseconds() { date +%s%3N; }
resident() { awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$controller/status"; }

guarded() { [ "$(steps)" -gt "$steps_from" ]; }

# flood WHAT: asks while it lasts; the slowest but one of about 20 answers, the memory, the refusals
flood() {
    local what=$1 end times=() failed=0 from steps_from steps_n over guarded

    setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/hostile" 127.0.0.1:$port "$dir/munge" "$what" 3600 >"$dir/$what.out" 2>&1 &
    local hostile=$!
    steps_from=$(steps) from=$(milliseconds)
    end=$(($(milliseconds) + each * 1000)) peak=0
    while [ "$(milliseconds)" -lt $end ]; do
        local begin rss
        begin=$(milliseconds)
        sgctl status >/dev/null 2>"$dir/err" || { failed=$((failed + 1)); cat "$dir/err" >>"$dir/failed"; }
        times+=($(($(milliseconds) - begin)))
        rss=$(resident)
        [ "$rss" -le $peak ] || peak=$rss
        sleep 0.2
    done
    # The flood goes on until a step of the job has been counted: later on a busy machine, never if the job is not guarded.
    wait_for 120 guarded
    guarded=$? steps_n=$(($(steps) - steps_from)) over=$(($(milliseconds) - from))
    kill -TERM $hostile
    wait $hostile 2>/dev/null
    slow=$(printf '%s\n' "${times[@]}" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR * 95 + 99) / 100)] }')
    [ -n "${SYNCGUARDD-}" ] || is $failed 0 "$what: all questions of root are answered" || show "$dir/failed"
    echo "# $what: 95 % of the answers come within $slow ms; $steps_n steps of 50 ms in $over ms"
    if [ -z "${SYNCGUARDD-}" ]; then
        [ "$peak" -le 256 ]
        ok $? "$what: the controller has at most 256 MiB"
        echo "# $what: $peak MiB"
    fi
    ok $guarded "$what: root's job is guarded meanwhile"
}
for what in ranks comms period halves jobs reports questions greetings silence; do
    flood $what
    [ $what != ranks ] || like "$(sgctl job 700029 --full)" '\(UserMemory, Memory\)' "a step beyond the memory of its user has a note with the key that bounds it"
done
like "$(sgctl status)" '^Bounds .* [1-9][0-9]* refused' "sgctl status has the number of refusals"
[ "$(stat -c %s "$dir/syncguardd.log")" -le 1000000 ]
ok $? "the log has at most a megabyte"
echo "# the log: $(stat -c %s "$dir/syncguardd.log") bytes"
kill -TERM $controller
wait $controller
is $? 0 "the controller ends with 0 after the floods, and so without a report of a sanitizer"
done_testing
