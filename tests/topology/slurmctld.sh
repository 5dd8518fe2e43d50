#!/bin/bash
# A topology.conf means to us what it means to slurmctld. Each file here, and of $SYNCGUARD_TOPOLOGIES or shared/cases/topology beside the
# source tree, is given to a slurmctld of its own, in a network of its own and without nodes: what it refuses, we refuse, naming the line;
# what it takes has the same switches, levels, speeds, switches and nodes below for us, and the doctor says what it warns of. Half a second a
# file. A partition, too, has the nodes for us that it has for slurmctld: sets of nodes are resolved as there.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
PATH=$PATH:/usr/sbin:/sbin

for command in slurmctld scontrol unshare ip; do
    command -v $command >/dev/null || skip_all "$command is not installed"
done
if [ -z "$IN_OWN_NETWORK" ]; then
    spaces=(-n)
    [ "$(id -u)" = 0 ] || spaces=(-U --map-current-user --keep-caps -n)
    unshare "${spaces[@]}" ip link set lo up 2>/dev/null || skip_all "no network namespace can be made here"
    IN_OWN_NETWORK=1 exec unshare "${spaces[@]}" "$BASH" "$0"
fi

read_switches=$top_builddir/tests/topology/switches
cases=${SYNCGUARD_TOPOLOGIES:-$top_srcdir/../shared/cases/topology}
port=6817 pid=
dir=$(mktemp -d "${TMPDIR:-/tmp}/sg-topology.XXXXXX") || bail_out "no temporary folder"
trap 'end_slurmctld; rm -rf "$dir"' EXIT
# It listens to what is not the loopback's own address only.
ip link set lo up && ip addr add 10.77.0.1/32 dev lo || skip_all "no address can be added in a network namespace"
export SLURM_CONF=$dir/slurm.conf
echo Controller=127.0.0.1:1 >"$dir/syncguard.conf"

end_slurmctld() {
    [ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null
    pid=
}

write_slurm_conf() { # PLUGIN NODES-AND-PARTITIONS
    cat >"$SLURM_CONF" <<CONF
ClusterName=private
SlurmctldHost=localhost(10.77.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/pid
SlurmctldDebug=verbose
TopologyPlugin=topology/$1
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
PrivateData=cloud
$2
CONF
}

nodes='NodeName=node[1-8],tux[0-9],Tux[0-1],TUX[4-5],Node1,rack[1-2]node[01-02],r[1-4]c[01-03]n[0-1] State=CLOUD
PartitionName=all Nodes=ALL Default=YES'

listens() {
    (exec 3<>/dev/tcp/10.77.0.1/$port) 2>/dev/null
}

listens_or_ended() {
    listens || ! kill -0 "$pid" 2>/dev/null
}

# Status 0: a slurmctld runs with the files in $dir.
slurmctld_starts() { # PLUGIN NODES-AND-PARTITIONS
    end_slurmctld
    rm -rf "$dir/state"
    mkdir "$dir/state"
    port=$((port + 1)) # the last one's is still in use
    write_slurm_conf "$@"
    (cd "$dir" && exec slurmctld -D -c -f "$SLURM_CONF") >"$dir/log" 2>&1 &
    pid=$!
    wait_for 60 listens_or_ended
    listens
}

# Status 0: slurmctld runs with the file, and its switches are in $dir/theirs.
slurmctld_takes() { # FILE
    rm -f "$dir"/*.inc
    cp "$1" "$dir/topology.conf"
    cp "${1%/*}"/*.inc "$dir" 2>/dev/null
    slurmctld_starts "$(grep -qi '^BlockName' "$1" && echo block || echo tree)" "$nodes" || return
    timeout 60 scontrol show topology >"$dir/shown" 2>"$dir/scontrol" </dev/null &&
        "$read_switches" --shown "$dir/shown" >"$dir/theirs"
}

we_take() {
    "$read_switches" "$dir/topology.conf" >"$dir/ours" 2>"$dir/reason"
}

# What slurmctld warns of, in our words. That no switch reaches all nodes is said of nodes that no switch reaches, too.
warned_by_slurm() {
    sed -n -e 's/.*lack access to \([0-9]*\) nodes.*/\1 below no switch/p' -e 's/.*Invalid hostnames in switch conf.*/unknown nodes/p' \
        -e 's/.*Multiple leaf switches contain nodes.*/below several leaf switches/p' -e 's/.*no switch can reach all nodes.*/not all below one/p' \
        "$dir/log" | sort -u
}

warned_by_us() {
    "$top_builddir/sgctl" --conf "$dir/syncguard.conf" --timeout 1 doctor --cluster --topology "$dir/topology.conf" >"$dir/out" 2>&1
    tr -s ' \n' ' ' <"$dir/out" >"$dir/flat"
    {
        grep -oE '[0-9]+ of Slurm.s [0-9]+ nodes \(scontrol show nodes\) (are|is) below no switch' "$dir/flat" |
            sed 's/ .*/ below no switch/'
        grep -q 'not known to Slurm' "$dir/flat" && echo unknown nodes
        grep -q 'below several leaf switches' "$dir/flat" && echo below several leaf switches
        grep -qE 'below no switch|trees that nothing connects' "$dir/flat" && echo not all below one
    } | sort -u
}

compare() { # FILE
    local name=${1##*/}

    if ! slurmctld_takes "$1"; then
        if grep -q "cannot find.*topology" "$dir/log" || grep -qi 'BlockName' "$dir/log"; then
            skip "$name" "this Slurm has no topology/block"
            return
        fi
        we_take
        ok $((! $?)) "$name: refused, as by slurmctld" || { grep -E 'fatal|error' "$dir/log" >"$dir/why"; show "$dir/why" "$dir/ours"; }
        like "$(cat "$dir/reason")" '^[^ ]*: [^ ]' "$name: the reason begins with a place" || show "$dir/reason"
        return
    fi
    we_take
    ok $? "$name: taken, as by slurmctld" || show "$dir/reason"
    is "$(cat "$dir/ours")" "$(cat "$dir/theirs")" "$name: its switches are those of slurmctld"
    is "$(warned_by_us)" "$(warned_by_slurm)" "$name: the doctor warns of what slurmctld warns of" || show "$dir/out"
}

compare_partitions() { # FILE
    local name=${1##*/} partition theirs

    # nodes of a cloud need no address
    slurmctld_starts tree "$(sed '/^NodeName=/{/State=/!s/$/ State=CLOUD/}' "$1")"
    ok $? "$name: slurmctld runs with it" || { show "$dir/log"; return; }
    timeout 60 scontrol -o show partition >"$dir/shown" </dev/null
    for partition in $(sed -n 's/^PartitionName=\([^ ]*\).*/\1/p' "$dir/shown"); do
        theirs=$(sed -n "s/^PartitionName=$partition .* Nodes=\([^ ]*\).*/\1/p" "$dir/shown")
        is "$("$read_switches" --partition "$SLURM_CONF" "$partition" 2>&1)" "$("$read_switches" --list "$theirs")" \
            "$name: partition $partition has the nodes that it has for slurmctld"
    done
}

slurmctld_takes "$top_srcdir/tests/topology/files/two-spines.conf" ||
    skip_all "no slurmctld can be started here: $(grep -hE 'fatal|error' "$dir/log" "$dir/scontrol" | tail -1)"
for file in "$top_srcdir"/tests/topology/files/*.conf "$cases"/*.conf; do
    case ${file##*/} in
    plugstack* | nodeset* | '*.conf') ;;
    *) compare "$file" ;;
    esac
done
cp "$top_srcdir/tests/topology/files/two-spines.conf" "$dir/topology.conf"
for file in "$top_srcdir"/tests/topology/files/nodeset*.conf "$cases"/nodeset*.conf; do
    [ ! -f "$file" ] || compare_partitions "$file"
done
done_testing
