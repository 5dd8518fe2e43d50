# controller.sh - for test scripts, to be read with `.` after tap.sh: a munged and a controller of the test's own, without Slurm.
# Reading it starts munged and sets
#   $dir, $folders    a folder for the test; all folders that are removed at its end
#   $pids             processes that are ended with the test
#   $port             the controller's, on 127.0.0.1; SYNCGUARD_CONF is exported
# and skips the test where there is no munged.
#   controller_start  starts syncguardd, process $controller, and waits until it answers; its status says whether it does
# SYNCGUARDD: a controller of another build to start instead, such as one with a sanitizer.
# shellcheck shell=bash
[ -x /usr/sbin/munged ] || skip_all "munged is not installed"
dir=$(mktemp -d "/tmp/$(basename "$0" .sh)-XXXXXX") || exit 99
folders=("$dir") pids=()
cleanup() {
    [ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "${folders[@]}"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

chmod 755 "$dir" # munged insists that everybody may reach its socket
head -c 64 /dev/urandom >"$dir/key" && chmod 600 "$dir/key"
/usr/sbin/munged --foreground --force --num-threads=1 --key-file="$dir/key" --log-file="$dir/munge.log" \
    --pid-file="$dir/munge.pid" --seed-file="$dir/seed" --socket="$dir/munge" >/dev/null 2>&1 &
pids+=($!)
port=$((10000 + $$ * 4 % 22000)) # and three more; below those that the kernel hands out
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
wait_for 10 test -S "$dir/munge"

controller_start() {
    "${SYNCGUARDD:-$top_builddir/syncguardd}" --conf "$SYNCGUARD_CONF" &
    controller=$!
    pids+=($controller)
    wait_for 10 timeout 5 "$top_builddir/sgctl" --timeout 1 status >/dev/null 2>&1
}
