#!/bin/bash
# inside.sh - the part of `slurm` that runs inside a cluster's namespaces.  Not for calling by hand.
#   inside.sh holder             process 1 of the control host: all others live and die with it
#   inside.sh node INDEX         process 1 of a node
#   inside.sh network            switches, and a cable to each node
#   inside.sh boot INDEX         start a node; `plug INDEX` brings its cable
#   inside.sh start NAME CMD...  a daemon on the control host, recorded as run/NAME
#   inside.sh stop NAME [SIGNAL]
#   inside.sh shape LINK [RATE=] [DELAY_US=] | slow NODE PERCENT|off
# Environment: DIR, TOOLS, NODES, LEAF, SPINES, DEAL, CPUS, SHARE, SHARES (as `slurm` exports them).
#
# A record in run/ is "PID STARTTIME", the pid as the control host sees it (run/holder and run/outer: as the
# caller does), so that a number that is used again is never taken for the old process.
set -euo pipefail
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=tests/cluster/config.sh
. "$HERE/config.sh"
# shellcheck source=tests/cluster/record.sh
. "$HERE/record.sh"
# shellcheck source=tests/cluster/share.sh
. "$HERE/share.sh"

die() {
    echo "slurm: $*" >&2
    exit 1
}

# Hosts share this machine's files, but not what a host has in memory.
mount_own() {
    mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm
    mount -t proc proc /proc
}

# Reap what is orphaned, until the namespace is ended from outside.
attend() {
    local rest

    while :; do
        sleep infinity &
        rest=$!
        wait "$rest" || true
    done
}

holder() {
    # /proc is still the caller's: this is our pid as the caller sees it
    local stat

    read -r stat </proc/self/stat
    hostname ctl
    mount --bind "$DIR/etc/hosts" /etc/hosts
    mount_own
    ip link set lo up
    record_as holder "$(stat_pid "$stat")" "$(stat_start "$stat")"
    attend
}

node() { # INDEX
    local i=$1 stat

    read -r stat </proc/self/stat
    [ -z "$SHARES" ] || share_join "$SHARES/node$i"
    hostname "node$i"
    mount_own
    ip link set lo up
    record_as "node$i" "$(stat_pid "$stat")" "$(stat_start "$stat")"
    # cables come when all nodes are there, and many nodes take their time
    wait_until $((60 + NODES)) ip link set eth0 up 2>/dev/null || die "node$i: no cable came"
    ip address add "$(node_address "$i")/$NETMASK" dev eth0
    [ ! -e "$DIR/etc/neighbours" ] || ip -batch "$DIR/etc/neighbours"
    slurmd -D -N "node$i" -f "$SLURM_CONF" </dev/null >>"$DIR/log/slurmd.node$i.out" 2>&1 &
    attend
}

boot() { # INDEX
    local i=$1

    rm -f "$DIR/run/node$i"
    if [ -n "$SHARES" ]; then
        mkdir -p "$SHARES/node$i"
        share_set "$SHARES/node$i" "$SHARE"
    fi
    mkdir -p "$DIR/spool/node$i" "$DIR/tmp/node$i"
    chmod 1777 "$DIR/tmp/node$i"
    start "host.node$i" unshare -n -u -m -i -p --fork --kill-child=KILL "$BASH" "$HERE/inside.sh" node "$i"
}

cable() { # INDEX: lines for ip -batch
    local pid
    wait_until 60 test -s "$DIR/run/node$1" || die "node$1 does not start: see $DIR/log/host.node$1.out"
    read -r pid _ <"$DIR/run/node$1"
    echo "link add port$1 type veth peer name eth0 address $(node_mac "$1") netns $pid"
    echo "link set port$1 master leaf$(leaf_of "$1") arp off up"
}

plug() { # INDEX
    cable "$1" | ip -batch -
}

switches() { # lines for ip -batch
    local leaf spine port

    # "arp off" on all but spine0: this host would answer for its own address on every switch and port, and
    # frames would take a way around the links.  A fixed address: a bridge takes its
    # lowest port's, and would change it while others remember the old one
    echo "link add spine0 address 02:00:0a:4d:00:01 type bridge"
    echo "address add $CONTROL_ADDRESS/$NETMASK dev spine0"
    echo "link set spine0 up"
    for ((spine = 1; spine < SPINES; spine++)); do
        echo "link add spine$spine type bridge"
        echo "link set spine$spine arp off up"
    done
    for ((leaf = 0; leaf <= $(last_leaf); leaf++)); do
        echo "link add leaf$leaf type bridge"
        echo "link set leaf$leaf arp off up"
        for ((spine = 0; spine < SPINES; spine++)); do
            port=$(port_to "$leaf" "$spine")
            echo "link add up$port type veth peer name down$port"
            echo "link set up$port master leaf$leaf arp off up"
            echo "link set down$port master spine$spine arp off up"
            ((SPINES == 1)) || only_known "$port" "$spine"
        done
    done
}

# What is for everybody, or for the control host, goes by spine0 alone: it would come twice, or go in a circle.
only_known() { # PORT SPINE: lines for ip -batch
    local to=''

    (($2 == 0)) || to="flood off mcast_flood off bcast_flood off"
    echo "link set up$1 type bridge_slave learning off $to"
    (($2 == 0)) || echo "link set down$1 type bridge_slave learning off $to"
}

# In a fat tree the way to a node is by one spine, from wherever (as in the forwarding tables of InfiniBand); those of a leaf are dealt
# out to the spines.
ways() { # lines for bridge -batch
    local i leaf mac spine

    for ((i = 1; i <= NODES; i++)); do
        mac=$(node_mac "$i")
        spine=$(($(place_on_leaf "$i") % SPINES))
        for ((leaf = 0; leaf <= $(last_leaf); leaf++)); do
            if ((leaf == $(leaf_of "$i"))); then
                ((spine == 0)) || echo "fdb add $mac dev down$(port_to "$leaf" "$spine") master static"
            else
                echo "fdb add $mac dev up$(port_to "$leaf" "$spine") master static"
            fi
        done
    done
}

network() {
    local i

    switches | ip -batch -
    ((SPINES == 1)) || ways | bridge -batch -
    for ((i = 1; i <= NODES; i++)); do
        cable "$i"
    done | ip -batch -
}

start() { # NAME COMMAND...
    local name=$1

    shift
    setsid "$@" </dev/null >>"$DIR/log/$name.out" 2>&1 &
    record "$name" $!
}

stop() { # NAME [SIGNAL]
    local pid

    pid=$(recorded "$1") || return 0
    kill -s "${2:-TERM}" "$pid" 2>/dev/null || true
    wait_until 10 gone "$1" || kill -s KILL "$pid" 2>/dev/null || true
    wait_until 5 gone "$1" || die "$1 (process $pid on the control host) does not end"
    rm -f "$DIR/run/$1"
}

is_host() { # NAME
    [[ $1 =~ ^node([0-9]+)$ ]] && recorded "$1" >/dev/null
}

on() { # NODE COMMAND...
    local pid

    pid=$(recorded "$1") || die "$1 is down"
    shift
    "$TOOLS/enter" "$pid" "$@"
}

slow() { # NODE PERCENT|off
    local pid

    pid=$(recorded "$1") || die "$1 is down"
    if [ -n "$SHARES" ]; then
        share_set "$SHARES/$1" "$(awk -v share="$SHARE" -v slow="${2/off/0}" 'BEGIN { print share / (1 + slow / 100) }')"
        return
    fi
    stop "slow.$1"
    [ "$2" = off ] && return
    start "slow.$1" "$TOOLS/enter" "$pid" "$TOOLS/cpuslow" "$2"
    sleep 0.05
    recorded "slow.$1" >/dev/null || die "cpuslow ended: $(tail -n 1 "$DIR/log/slow.$1.out")"
}

# A link is the cable of a node, or a leaf switch's to a spine: PORT hangs in BRIDGE, far_end is the other end.
find_link() { # LINK SPINE
    if [[ $1 =~ ^node([0-9]+)$ ]]; then
        is_host "$1" || die "$1 is down"
        PORT=port${BASH_REMATCH[1]} BRIDGE=leaf$(leaf_of "${BASH_REMATCH[1]}") FAR=eth0 FAR_HOST=$1
    else
        FAR=up$(port_to "${1#leaf}" "$2") FAR_HOST=
        PORT=down${FAR#up} BRIDGE=spine$2
    fi
}

far_end() { # COMMAND...
    if [ -n "$FAR_HOST" ]; then
        on "$FAR_HOST" "$@"
    else
        "$@"
    fi
}

offload() { # on|off DEVICE on this host
    ethtool -K "$2" tx "$1" gso "$1" tso "$1" gro "$1" >/dev/null 2>&1 || true
}

unshape() {
    stop "delay.$PORT"
    tc qdisc del dev "$PORT" root 2>/dev/null || true
    far_end tc qdisc del dev "$FAR" root 2>/dev/null || true
    if ip link del "r-$PORT" 2>/dev/null; then
        ip link set "$PORT" master "$BRIDGE"
        offload on "$PORT"
        far_end ethtool -K "$FAR" tx on gso on tso on gro on >/dev/null 2>&1 || true
    fi
}

limit_rate() { # BITS_PER_S
    # what a link may send at once: one ms, but a few frames at the least
    local burst=$(($1 / 8000))

    burst=$((burst < 16384 ? 16384 : burst))
    tc qdisc add dev "$PORT" root tbf rate "${1}bit" burst "$burst" latency 50ms
    far_end tc qdisc add dev "$FAR" root tbf rate "${1}bit" burst "$burst" latency 50ms
}

# Cable -- PORT -- linkdelay -- r-PORT == s-PORT -- BRIDGE
delay_frames() { # MICROSECONDS MICROSECONDS
    local device

    ip link add "r-$PORT" type veth peer name "s-$PORT"
    for device in "r-$PORT" "s-$PORT" "$PORT"; do
        offload off "$device"
        ip link set "$device" arp off up
    done
    far_end ethtool -K "$FAR" tx off gso off tso off gro off >/dev/null 2>&1 || true
    ip link set "$PORT" nomaster
    ip link set "s-$PORT" master "$BRIDGE"
    start "delay.$PORT" "$TOOLS/linkdelay" "$PORT" "r-$PORT" "$1" "$2"
    sleep 0.05
    recorded "delay.$PORT" >/dev/null || die "linkdelay ended: $(tail -n 1 "$DIR/log/delay.$PORT.out")"
}

shape() { # LINK RATE(bit/s, 0: no limit) DELAY(us, 0: none) BACK(us: to what the node receives)
    local spine

    for ((spine = 0; spine < SPINES; spine++)); do
        find_link "$1" "$spine"
        unshape
        if [ "$2" != 0 ]; then
            limit_rate "$2"
        fi
        if [ "$3$4" != 00 ]; then
            delay_frames "$3" "$4"
        fi
        [ -z "$FAR_HOST" ] || break # a node has one cable
    done
}

"$@"
