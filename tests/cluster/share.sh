# share.sh - gives each node its own share of a core, by a cgroup with a quota.  Sourced by `slurm`, and by inside.sh.
# SHARES is the folder of the cluster's cgroups, one for each node; empty where nodes have no shares.  Versions 1 and 2 of
# cgroups both work.
#
# The quota is the smallest that Linux accepts, and the length of the period sets the share: the shorter the period, the less a
# task notices when in it its work begins.  Measured with a share of 20 %: 20 ms of work take 99 ms (standard deviation 6 ms) in
# periods of 5 ms, and 73 ms (19 ms) in the usual periods of 100 ms.
SHARE_QUOTA_US=1000

# Candidates for the parent of SHARES: the cgroup that we are in, and those above it.
share_parents() {
    local mount type options own

    while read -r _ mount type options _; do
        case $type in
        cgroup)
            [[ ,$options, == *,cpu,* ]] || continue
            own=$(sed -nE 's/^[0-9]+:([^:]*,)?cpu(,[^:]*)?://p' /proc/self/cgroup)
            ;;
        cgroup2) own=$(sed -n 's/^0:://p' /proc/self/cgroup) ;;
        *) continue ;;
        esac
        own=${own%/}
        echo "$mount$own"
        while [ -n "$own" ]; do
            own=${own%/*}
            echo "$mount$own"
        done
    done </proc/self/mounts
}

share_set() { # CGROUP PERCENT: of a core
    local period_us

    period_us=$(awk -v quota="$SHARE_QUOTA_US" -v percent="$2" 'BEGIN { printf "%d", quota * 100 / percent + 0.5 }')
    if [ -e "$1/cpu.max" ]; then
        echo "$SHARE_QUOTA_US $period_us" >"$1/cpu.max"
    else
        echo "$period_us" >"$1/cpu.cfs_period_us" && echo "$SHARE_QUOTA_US" >"$1/cpu.cfs_quota_us"
    fi
}

share_join() { # CGROUP: moves the calling shell, and with it what it starts later
    echo 0 >"$1/cgroup.procs"
}

# Can nodes have their shares below CGROUP, which was just made?  It gets the largest weight: what the nodes take is bounded,
# and other processes of this machine must not take it from them.
share_works() { # CGROUP
    local trial=$1/trial

    if [ -e "$1/cpu.max" ]; then
        echo 10000 >"$1/cpu.weight" && echo +cpu >"$1/cgroup.subtree_control"
    else
        [ -e "$1/cpu.cfs_quota_us" ] && echo 102400 >"$1/cpu.shares"
    fi && mkdir "$trial" && share_set "$trial" 50 && (share_join "$trial")
}

# Enable the controller in the root cgroup of version 2.  SHARES_ROOT is then that cgroup; empty where it was enabled before.
share_enable() { # CGROUP
    SHARES_ROOT=
    if [ -e "$1/cgroup.controllers" ] && [ ! -e "$1/cgroup.type" ] && ! grep -qw cpu "$1/cgroup.subtree_control"; then
        echo +cpu >"$1/cgroup.subtree_control" && SHARES_ROOT=$1
    fi
}

# Sets SHARES to a new cgroup of that name.  1 where this machine does not allow it.
share_make() { # NAME
    local parent

    SHARES_ROOT=
    for parent in $(share_parents); do
        SHARES=$parent/$1
        share_remove
        share_enable "$parent"
        if mkdir "$SHARES" && share_works "$SHARES"; then
            rmdir "$SHARES/trial" || true # or share_remove() does, later
            return 0
        fi
        share_remove
    done 2>/dev/null
    SHARES=
    return 1
}

share_empty() {
    rmdir "$SHARES"/*/ "$SHARES"
    [ ! -d "$SHARES" ]
}

share_remove() {
    [ -z "$SHARES" ] || [ ! -d "$SHARES" ] || wait_until 5 share_empty 2>/dev/null || true
    if [ -n "$SHARES_ROOT" ] && ! compgen -G "$SHARES_ROOT/syncguard-*/" >/dev/null; then
        echo -cpu >"$SHARES_ROOT/cgroup.subtree_control" || true
        SHARES_ROOT=
    fi
}
