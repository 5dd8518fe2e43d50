#!/bin/bash
# sgctl doctor --cluster --probe on a real private Slurm: what is wrong with links and switches is found, and nothing on a clean cluster.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

# Where something else takes the processors, links are slow, and it is right that the doctor says so: then it is asked again. On a machine
# with nothing else to do once has to be enough.
tries=5
[ "${SYNCGUARD_MEASURE-}" != yes ] || tries=1
C_TIMEOUT=300
installed
up 12 --leaf 4

# The doctor's findings of what was measured; status: its exit status.
probe() { # OPTIONS...
    C exec sgctl doctor --cluster --probe --json "$@" >"$here/out" 2>"$here/err"
    status=$?
    measured=$(jq -c '[.findings[] | select(.check | IN("delay", "rate", "place", "reach", "measured", "clock"))]' "$here/out")
}
faults() { jq -c '[.[] | select(.state == "fault") | [.check, .nodes]] | sort' <<<"$measured"; }
all_pairs() { jq -e 'any(.[]; .check == "measured" and (.text | startswith("66 of 66 pairs of 12 nodes")))' <<<"$measured" >/dev/null; }
# Exactly these faults, between all nodes.
found() { # FAULTS WHAT OPTIONS...
    local try

    for ((try = 1; try <= tries; try++)); do
        probe "${@:3}"
        [ "$(faults)" != "$1" ] || ! all_pairs || break
    done
    [ $try = 1 ] || echo "# measured $try times"
    is "$(faults)" "$1" "$2" && return
    jq -r '.[] | "#   \(.state) \(.check): \(.text)"' <<<"$measured"
    sed 's/^/#   /' "$here/err"
}

# Switches take time, or nodes below one are as near to those below another.
for leaf in 0 1 2; do
    C shape leaf$leaf 300us
done
found '[]' "a clean cluster: no fault"
is "$(jq -c '[.[] | select(.check == "measured") | .state, (.text | startswith("66 of 66 pairs of 12 nodes"))]' <<<"$measured")" '["ok",true]' \
    "a clean cluster: all pairs were measured"
is "$(jq -c '[.clocks[] | select((.ahead_s | fabs) < .doubt_s + 0.01)] | length' "$here/out")" 12 "a clean cluster: the clocks of all nodes, which are one"
is "$(jq -c '[.[] | select(.check == "place")]' <<<"$measured")" '[]' "a clean cluster: its switches can be told apart"

cat >"$here/wrong.conf" <<'CONF'
SwitchName=leaf0 Nodes=node[1-3,5]
SwitchName=leaf1 Nodes=node[4,6-8]
SwitchName=leaf2 Nodes=node[9-12]
SwitchName=spine0 Switches=leaf[0-2]
CONF
found '[["place",["node4"]],["place",["node5"]]]' "two nodes below each other's switch in the file" --topology "$here/wrong.conf"
is "$status" 1 "which is a fault for scripts"

# A link that is limited, one that is delayed one way, and a node whose program sees another wall clock.
measure=$here/inst/libexec/syncguard/syncguard-measure
${CC:-cc} -shared -fPIC -o "$here/wrongclock.so" "$top_srcdir/tests/cluster/wrongclock.c" || bail_out "wrongclock.c does not compile"
cp "$measure" "$here/measure"
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s\n' "$here/wrongclock.so" "$here/measure" >"$here/wrapper" && chmod 755 "$here/wrapper"
C on node8 mount --bind "$here/wrapper" "$measure"
C shape node3 8mbit # a tenth of what a busy machine does, and less
C shape node6 5ms/0us
found '[["clock",["node8"]],["delay",["node6"]],["rate",["node3"]]]' "a link that is delayed one way, a shaped one, a node whose clock is ahead, and no other" \
    --measured "$here/slow.conf"
like "$(jq -r '.[] | select(.check == "clock" and .state == "fault") | .text' <<<"$measured")" '^node8: its clock is 3.0 s ahead of ' "it is said by how much a clock is ahead"
like "$(jq -r '.clocks[] | select(.node == "node8") | .ahead_s' "$here/out")" '^(2\.9|3\.0)' "and in the answer's figures"
grep -v '^Measured=' "$here/slow.conf" | sed 's/^/# /'
like "$(sed -n 2p "$here/slow.conf")" '^Measured=20[-0-9T:]*Z Nodes=12$' "--measured writes when and between how many nodes"
is "$(sed -n '3,$s/=[0-9.e+]*\(ms\|\)$/=\1/p' "$here/slow.conf")" $'Node=node3 Slower=\nNode=node6 Delay=ms' "--measured writes the slow links, and no other"
like "$(C exec sgplan place --topology "$here/c/etc/topology.conf" --measured "$here/slow.conf" 2>&1)" 'Links that were measured to be slow: 2, between 12 nodes' \
    "sgplan place reads what was written"
C shape node3 off
C shape node6 off
found '[]' "faults that were removed are not found, nor a clock within the limit that is given" --clock-limit 4s
C on node8 umount "$measure"
for ((try = 1; try <= tries; try++)); do
    C exec sgctl doctor --cluster --probe >"$here/out" 2>"$here/err"
    ! grep -q '^ok  *measured ' "$here/out" || break
done
is "$(grep -c '^ok  *measured  *66 of 66 pairs' "$here/out")" 1 "the text says what was measured"

# By MPI, where there is one. Ranks outnumber the processors here, so what was not disturbed is judged, however little.
mpi=$(ldconfig -p | grep -o '/[^ ]*libmpi\.so\.40$' | head -n 1)
by_mpi() { # FILTER: of what is said of MPI
    jq -c "[.findings[] | select(.check == \"mpi\") | $1]" "$here/out"
}
by_mpi_found() { # WHAT EACH FAULT IS, WHAT, FILTER (the fault's nodes)
    local try faults

    for ((try = 1; try <= tries; try++)); do
        probe --mpi
        faults=$(by_mpi "select(.state == \"fault\") | ${3-.nodes}" | jq -c unique)
        [ "$faults" != "$1" ] || break
    done
    [ $try = 1 ] || echo "# measured $try times"
    is "$faults" "$1" "$2" || by_mpi .text | sed 's/^/#   /'
}
if [ -n "$mpi" ]; then
    by_mpi_found '[]' "by MPI: no fault where no device is slow"
    like "$(by_mpi .text)" 'of 66 pairs by Open MPI v' "Open MPI measures between the same pairs"

    if [ "${SYNCGUARD_MEASURE-}" = yes ]; then
        ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o "$here/slowdevice.so" "$top_srcdir/tests/cluster/slowdevice.c" -ldl || bail_out "slowdevice.c does not compile"
        # shellcheck disable=SC2016
        printf '#!/bin/sh\n[ $# = 0 ] || export LD_PRELOAD=%s\nexec %s "$@"\n' "$here/slowdevice.so" "$here/measure" >"$here/wrapper"
        C on node5 mount --bind "$here/wrapper" "$measure"
        # Where few of the pairs could be measured, those of the node are named one by one.
        tries=3 by_mpi_found '[true]' "by MPI: a node with a slow device, and no pair without it" '.nodes | index("node5") != null'
        C on node5 umount "$measure"
    else
        skip "by MPI: a node with a slow device, and no pair without it" "it takes a machine with nothing else to do (SYNCGUARD_MEASURE=yes)"
    fi

    C on node5 mount --bind /dev/null "$(readlink -f "$mpi")"
    by_mpi_found '[["node5"]]' "by MPI: a node without the library"
    C on node5 umount "$(readlink -f "$mpi")"
fi

mv "$here/inst/libexec/syncguard/syncguard-measure" "$here/away"
probe
is "$(jq -c '[.[] | select(.check != "clock") | [.state, .check, (.text | startswith("syncguard-measure did not start on 12 of 12 nodes"))]]' <<<"$measured")" \
    '[["unknown","measured",true]]' "a program that is missing is said so, with srun's words"
mv "$here/away" "$here/inst/libexec/syncguard/syncguard-measure"
C exec squeue -h >"$here/out"
is "$(wc -l <"$here/out")" 0 "no job is left"

done_testing
