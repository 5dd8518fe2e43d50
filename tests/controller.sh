# controller.sh - for test scripts, to be read with `.` after tap.sh: a munged and a controller of the test's own, without Slurm.
# Reading it starts munged and sets
#   $dir, $folders    a folder for the test; all folders and files that are removed at its end
#   $pids             processes that are ended with the test, as all that the script started in the background are
#   $port             the controller's, on 127.0.0.1; SYNCGUARD_CONF is exported
# and skips the test where there is no munged.
#   free_port NAME    sets the variable NAME to a port that is the test's own until its end
#   controller_start  starts syncguardd, process $controller, and waits until it answers; its status says whether it does
#   job_start OPTION...  starts tests/daemon/simjob, process $simjob, whose step goes on until it is ended; its log is $dir/simjob.log
#   job_end           ends the step of $simjob
# SYNCGUARDD: a controller of another build to start instead, such as one with a sanitizer.
# shellcheck shell=bash
[ -x /usr/sbin/munged ] || skip_all "munged is not installed"
dir=$(mktemp -d "/tmp/$(basename "$0" .sh)-XXXXXX") || exit 99
folders=("$dir") pids=()
cleanup() {
    # What the shell still has to wait for: an id in $pids may be another program's by now. A process that a failed test left stopped
    # takes the signal when it goes on; one that does not end holds up nobody for ever.
    signal_children TERM
    signal_children CONT
    wait_for 60 no_children || signal_children KILL
    wait 2>/dev/null
    rm -rf "${folders[@]}"
}
signal_children() {
    local children
    mapfile -t children < <(jobs -rp)
    [ ${#children[@]} -eq 0 ] || kill -"$1" "${children[@]}" 2>/dev/null
}
no_children() { [ -z "$(jobs -rp)" ]; }
trap cleanup EXIT
trap 'exit 1' INT TERM

# The controller and its terminals are started again with the same port, and for some time nobody listens on it: it must be
# none that the kernel hands out, and no other test's. The lock of a file says whose it is; the kernel, whether somebody listens.
free_port() {
    local free_low free_high free_try free_file free_fd locks=/tmp/syncguard-ports-$UID

    read -r free_low free_high </proc/sys/net/ipv4/ip_local_port_range
    if [ "$free_low" -ge 12000 ]; then
        free_high=$((free_low - 1)) free_low=10000
    else
        free_low=$((free_high + 1)) free_high=65535
    fi
    mkdir -p -m 700 "$locks"
    for _ in {1..1000}; do
        free_try=$((free_low + (RANDOM * 32768 + RANDOM) % (free_high - free_low + 1))) free_file=$locks/$free_try
        exec {free_fd}>"$free_file"
        # Its owner removes the file when it ends: a lock on what is no longer there is none.
        if flock -n "$free_fd" && [ "$free_file" -ef "/dev/fd/$free_fd" ] && ! port_used "$free_try"; then
            folders+=("$free_file")
            printf -v "$1" %d "$free_try"
            return
        fi
        exec {free_fd}>&-
    done
    bail_out "there is no free port between $free_low and $free_high"
}
port_used() { grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") " /proc/net/tcp /proc/net/tcp6 2>/dev/null; }

chmod 755 "$dir" # munged insists that everybody may reach its socket
head -c 64 /dev/urandom >"$dir/key" && chmod 600 "$dir/key"
/usr/sbin/munged --foreground --force --num-threads=1 --key-file="$dir/key" --log-file="$dir/munge.log" \
    --pid-file="$dir/munge.pid" --seed-file="$dir/seed" --socket="$dir/munge" >/dev/null 2>&1 &
pids+=($!)
free_port port
cat >"$dir/syncguard.conf" <<CONF
Controller=127.0.0.1
Port=$port
Listen=127.0.0.1
AuthInfo=socket=$dir/munge
StateDir=$dir/state
Confirm=credential
LogFile=$dir/syncguardd.log
CONF
export SYNCGUARD_CONF=$dir/syncguard.conf
wait_for 60 test -S "$dir/munge"

controller_start() {
    "${SYNCGUARDD:-$top_builddir/syncguardd}" --conf "$SYNCGUARD_CONF" &
    controller=$!
    pids+=($controller)
    wait_for 120 answers_or_ended && kill -0 "$controller" 2>/dev/null
}
answers_or_ended() { timeout 60 "$top_builddir/sgctl" --timeout 10 status >/dev/null 2>&1 || ! kill -0 "$controller" 2>/dev/null; }

job_start() {
    "$top_builddir/tests/daemon/simjob" --controller "127.0.0.1:$port" --munge-socket "$dir/munge" --seconds 1e6 "$@" \
        >"$dir/simjob.log" 2>&1 &
    simjob=$!
    pids+=($simjob)
}
job_end() { kill -USR1 "$simjob" && wait "$simjob"; }
