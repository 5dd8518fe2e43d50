#!/bin/bash
# packages-site.sh - the part of `packages-install` that runs inside the bare root.  Not for calling by hand.
#   packages-site.sh prepare      what a site has before SyncGuard: Slurm, munge, MPI, a user
#   packages-site.sh lifetime     install, guard, upgrade, purge; TAP on standard output
# In /src: the tree, packages/1 and packages/2 (the same, of a later version), and tools, the programs of the private cluster.
set -u
top_srcdir=/src
# shellcheck source=tests/tap.sh
. $top_srcdir/tests/tap.sh || exit 99
# What belongs to this test, or differs from day to day, is no part of what is compared.
state=/src/state cluster=/src/state/cluster user=anna
export SYNCGUARD_CLUSTER=$cluster SYNCGUARD_TOOLS=/src/tools

C() { "$top_srcdir/tests/cluster/slurm" "$@"; }
sgctl() { timeout 60 "$top_srcdir/tests/cluster/slurm" exec runuser -u "$user" -- sgctl "$@"; }
figure() { sgctl job "$1" --json 2>/dev/null | jq -r "$2"; } # JOB FILTER
holds() { [ "$(figure "$1" "$2")" = true ]; }

prepare() {
    grep -E '^(ethtool|iproute2|munge|procps|slurm-client|slurm-wlm-basic-plugins|slurmctld|slurmd|util-linux|libpmix2|openmpi-bin|python3-mpi4py|jq) ' \
        $top_srcdir/packages.txt >/tmp/list
    # Slurm looks for PMIx under the name that only the package of its headers has.
    echo libpmix-dev >>/tmp/list
    apt-get -qq update && $top_srcdir/tests/cluster/install-packages /tmp/list && rm /tmp/list && useradd --create-home "$user"
}

# ---- what is on this host ----

# Paths with kind, mode and owner; of a file below /etc also what is in it. Left out is what changes by itself: logs, caches, the lists of apt and dpkg.
files() {
    find / -xdev \( -path /src -o -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/cache -o -path /var/log \
        -o -path /var/lib/apt -o -path '/var/lib/dpkg/*-old' -o -path /var/lib/dpkg/lock -o -path /var/lib/dpkg/triggers -o -path '*/__pycache__' \) \
        -prune -o -printf '%p %y %m %u:%g\n' | sort
    find /etc -xdev -type f ! -name ld.so.cache ! -name '*-' ! -name resolv.conf ! -name .pwd.lock -exec sha256sum {} + | awk '{ print $2, $1 }' | sort
    dpkg-query -W -f '${Package} ${db:Status-Status}\n'
}

# systemd is not installed here. This stands in its place and writes down what packages ask of it.
pretend_systemd() {
    mkdir -p /run/systemd/system
    : >"$state/systemctl"
    printf '#!/bin/sh\necho "$*" >>%s/systemctl\n' "$state" >/usr/bin/systemctl
    chmod 755 /usr/bin/systemctl
}
asked_of_systemd() { grep -E "$1.*syncguardd|syncguardd.*$1" "$state/systemctl" >/dev/null; }

install_all() { # FOLDER: as the administrator's guide says
    apt-get -qq install -y --no-install-recommends -o Dpkg::Use-Pty=0 "$1"/*.deb >"$state/apt" 2>&1
}

# ---- the controller: as the package's unit starts it ----

of_unit() { sed -n "s/^$1=//p" /lib/systemd/system/syncguardd.service; }

controller() { # start|stop
    local folder

    if [ "$1" = start ]; then
        folder=/var/lib/$(of_unit StateDirectory)
        install -d -o "$(of_unit User)" -g "$(of_unit User)" -m "$(of_unit StateDirectoryMode)" "$folder"
        C exec runuser -u "$(of_unit User)" -- sh -c 'echo $$; umask 077; exec '"$(of_unit ExecStart)" >"$state/controller.pid" 2>"$state/controller.err" &
        wait_for 60 sgctl status >/dev/null 2>&1
    else
        C exec sh -c 'kill $0; while kill -0 $0 2>/dev/null; do sleep 0.1; done' "$(head -n 1 "$state/controller.pid")"
    fi
}

# ---- jobs: a sum over all ranks in each step ----

write_program() {
    cat >"$state/steps.py" <<'END'
import os, sys, time
from mpi4py import MPI

world, step, total = MPI.COMM_WORLD, 0, 0.0
while world.bcast(os.path.exists(sys.argv[2]) if world.rank == 0 else None) if sys.argv[1] == "until" else step < int(sys.argv[1]):
    time.sleep(0.005)
    total += world.allreduce(world.rank + 1 / (step + 1))
    step += 1
if world.rank == 0:
    print("result", world.size, total if sys.argv[1] != "until" else "")
END
}

running_job() { C exec squeue -h -t R -o %A | grep .; }

job() { # srun's arguments
    C exec runuser -u "$user" -- srun "$@"
}

lifetime() {
    mkdir -p "$state" && chmod 755 "$state"
    write_program
    files >"$state/before"
    getent passwd | sort >"$state/users"
    pretend_systemd
    trap 'C down >/dev/null 2>&1' EXIT

    installing
    guarding
    upgrading
    purging
    done_testing
}

installing() {
    install_all /src/packages/1
    ok $? "the packages can be installed, all at once" || show "$state/apt"
    is "$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*syncguard*' | grep -c '^installed')" 7 "seven packages are installed then"
    is "$(dpkg --audit)" "" "dpkg finds no package half done"
    asked_of_systemd '(^| )(start|enable)'
    is $? 1 "installing does not start the controller"
    test ! -e /etc/syncguard/syncguard.conf -a -d /etc/syncguard
    ok $? "the packages have the folder /etc/syncguard, and no configuration in it"
    # The cluster has Slurm's files in a folder of its own; there it includes what Slurm's and our packages put into /etc/slurm.
    mkdir -p "$cluster/etc/plugstack.d" && touch "$cluster/.syncguard-cluster"
    C up 4 >"$state/up" 2>&1 || { show "$state/up"; bail_out "the private cluster does not start"; }
    echo 'include /etc/slurm/plugstack.conf' >"$cluster/etc/plugstack.d/site.conf"
    printf 'Controller=ctl\nAuthInfo=socket=%s/munge/sock\n' "$cluster" >/etc/syncguard/syncguard.conf
    controller start
    ok $? "the controller starts as the package's unit says" || show "$state/controller.pid" "$state/controller.err"
}

guarding() {
    local bare

    bare=$(job -N4 python3 "$state/steps.py" 200 2>"$state/bare.err")
    like "$bare" '^result 4 ' "a bare job runs over four nodes" || { show "$state/bare.err"; bail_out "Slurm runs no MPI job here"; }
    is "$(job -N4 --sync-guard python3 "$state/steps.py" 200 2>"$state/guarded.err")" "$bare" "a guarded job has the same result"
    is "$(cat "$state/guarded.err")" "$(cat "$state/bare.err")" "a guarded job prints nothing more on standard error"
    wait_for 60 holds 2 '.state == "finished"'
    ok $? "sgctl job: the guarded job ended" || sgctl job 2 | sed 's/^/#   /'
    is "$(figure 2 '[.probe.ranks_guarded, .probe.ranks_total, .probe.dropped, .probe.missed] | join(" ")')" "4 4 0 0" \
        "sgctl job: four of four ranks were guarded, and no record is missing"
    for policy in observe throughput energy large-train balanced; do
        is "$(job -N1 --sync-guard=$policy echo yes 2>&1)" yes "--sync-guard=$policy: a packaged policy is found by its name"
    done
    like "$(job -N1 --sync-guard=none-such echo yes 2>&1)" 'none-such' "--sync-guard=none-such: a policy that no file has is refused by its name"
    sgctl doctor >"$state/doctor" 2>&1
    ok $? "sgctl doctor finds nothing missing"
    sed 's/^/#   /' "$state/doctor"
}

upgrading() {
    local before job srun steps

    touch "$state/go"
    job -N4 --sync-guard=throughput python3 "$state/steps.py" until "$state/go" >"$state/long" 2>"$state/long.err" &
    srun=$!
    wait_for 60 running_job >"$state/started"
    job=$(running_job)
    wait_for 120 holds "$job" '.state == "running" and (.steps // 0) > 20'
    ok $? "a guarded job runs before the upgrade" || show "$state/long.err"
    like "$(sgctl jobs 2>&1)" "^$job\.0 +$user +python3 +running " "sgctl jobs lists it"
    before=$(readlink -f /usr/lib/*/syncguard/libsyncguard_probe.so | xargs stat -c %i)
    : >"$state/systemctl"
    install_all /src/packages/2
    ok $? "the packages are upgraded while it runs" || show "$state/apt"
    is "$(dpkg-query -W -f '${Version}\n' '*syncguard*' | sort -u)" "$(cat /src/packages/2/version)" "all packages are of the later version then"
    asked_of_systemd 'try-restart'
    ok $? "an upgrade restarts the controller where it runs" || show "$state/systemctl"
    test "$before" != "$(stat -c %i /usr/lib/*/syncguard/libsyncguard_probe.so)"
    ok $? "an upgrade puts a new file in the probe's place: that of running ranks stays as it is"
    steps=$(figure "$job" .steps)
    controller stop
    controller start
    ok $? "the later controller starts" || show "$state/controller.pid" "$state/controller.err"
    wait_for 120 holds "$job" ".state == \"running\" and (.steps // 0) > ${steps:-0} + 20"
    ok $? "the job that ran through the upgrade goes on being heard" || sgctl job "$job" | sed 's/^/#   /'
    is "$(job -N4 --sync-guard python3 "$state/steps.py" 50 2>&1 | head -c 9)" "result 4 " "a job that starts after the upgrade is guarded and runs"
    rm "$state/go"
    wait $srun
    is "$? $(cat "$state/long") $(cat "$state/long.err")" "0 result 4  " "the job that ran through the upgrade ends as it should"
    wait_for 60 holds "$job" '.state == "finished"'
    ok $? "its report says that it ended"
    is "$(figure "$job" '[.probe.ranks_guarded, .probe.ranks_total] | join(" ")')" "4 4" "its report has four of four ranks"
}

purging() {
    C down >"$state/down" 2>&1
    ok $? "the private cluster ends" || show "$state/down"
    : >"$state/systemctl"
    apt-get -qq purge -y --auto-remove -o Dpkg::Use-Pty=0 'syncguard*' libsyncguard0 libsyncguard-dev python3-syncguard >"$state/apt" 2>&1
    ok $? "the packages can be purged" || show "$state/apt"
    asked_of_systemd '(^| )stop'
    ok $? "removing the controller's package stops it" || show "$state/systemctl"
    rm -rf /usr/bin/systemctl /run/systemd/system
    files >"$state/after"
    # The configuration is the site's own: no package brought it, and none takes it away.
    is "$(diff "$state/before" "$state/after" | grep '^[<>]' | grep -vE '^> /etc/syncguard(/syncguard.conf)? ')" "" "purging leaves nothing but the site's own /etc/syncguard/syncguard.conf"
    is "$(getent passwd | sort | diff "$state/users" -)" "" "the host has the users that it had"
}

"$@"
