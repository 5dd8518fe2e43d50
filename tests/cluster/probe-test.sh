#!/bin/bash
# sgctl doctor --cluster --probe on a real private Slurm: what is wrong with links and switches is found, and nothing on a clean cluster.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

nodes=12
installed
up $nodes --leaf 4

# The doctor's findings of what was measured; status: its exit status.
probe() { # OPTIONS...
    C exec sgctl doctor --cluster --probe --json "$@" >"$here/out" 2>"$here/err"
    status=$?
    measured=$(jq -c '[.findings[] | select(.check | IN("delay", "rate", "place", "reach", "measured", "clock"))]' "$here/out")
}
faults() { jq -c '[.[] | select(.state == "fault") | [.check, .nodes]]' <<<"$measured"; }
# Exactly these faults.
found() { # FAULTS WHAT
    is "$(faults)" "$1" "$2" && return
    jq -r '.[] | "#   \(.state) \(.check): \(.text)"' <<<"$measured"
    sed 's/^/#   /' "$here/err"
}

# Switches take time, or nodes below one are as near to those below another.
for leaf in 0 1 2; do
    C shape leaf$leaf 300us
done
probe
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
probe --topology "$here/wrong.conf"
found '[["place",["node4"]],["place",["node5"]]]' "two nodes below each other's switch in the file"
is "$status" 1 "which is a fault for scripts"

# A node's program sees another wall clock.
measure=$here/inst/libexec/syncguard/syncguard-measure
${CC:-cc} -shared -fPIC -o "$here/wrongclock.so" "$top_srcdir/tests/cluster/wrongclock.c" || bail_out "wrongclock.c does not compile"
cp "$measure" "$here/measure"
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s\n' "$here/wrongclock.so" "$here/measure" >"$here/wrapper" && chmod 755 "$here/wrapper"
C on node8 mount --bind "$here/wrapper" "$measure"
probe
found '[["clock",["node8"]]]' "a node whose clock is ahead"
like "$(jq -r '.[] | select(.state == "fault") | .text' <<<"$measured")" '^node8: its clock is 3.0 s ahead of ' "it is said by how much"
like "$(jq -r '.clocks[] | select(.node == "node8") | .ahead_s' "$here/out")" '^(2\.9|3\.0)' "and in the answer's figures"
probe --clock-limit 4s
found '[]' "a limit that it is within"
C on node8 umount "$measure"

C shape node3 100mbit
# Where something else takes the processors all links are as slow: then it is measured again.
for _ in 1 2 3; do
    probe --measured "$here/slow.conf"
    ! grep -q '^Node=node3 ' "$here/slow.conf" || break
done
found '[["rate",["node3"]]]' "a shaped link"
like "$(sed -n 2p "$here/slow.conf"; sed -n 3,9p "$here/slow.conf")" '^Measured=20[-0-9T:]*Z Nodes=12
Node=node3 Slower=[0-9.e+]*$' "--measured writes the shaped link, and no other"
like "$(C exec sgplan place --topology "$here/c/etc/topology.conf" --measured "$here/slow.conf" 2>&1)" 'Links that were measured to be slow: 1, between 12 nodes' \
    "sgplan place reads what was written"
C shape node3 off

C shape node6 5ms/0us
probe
found '[["delay",["node6"]]]' "a link that is delayed one way"
C shape node6 off

C exec sgctl doctor --cluster --probe >"$here/out" 2>"$here/err"
is "$(grep -c '^ok  *measured  *66 of 66 pairs' "$here/out")" 1 "faults that were removed are not found, and the text says what was measured"

# By MPI, where there is one. Ranks outnumber the processors here, so what was not disturbed is judged, however little.
mpi=$(ldconfig -p | grep -o '/[^ ]*libmpi\.so\.40$' | head -n 1)
by_mpi() { # FILTER: of what is said of MPI
    jq -c "[.findings[] | select(.check == \"mpi\") | $1]" "$here/out"
}
if [ -n "$mpi" ]; then
    probe --mpi
    like "$(by_mpi .text)" 'of 66 pairs by Open MPI v' "Open MPI measures between the same pairs"
    is "$(by_mpi 'select(.state == "fault") | .nodes')" '[]' "by MPI: no fault where no device is slow"

    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o "$here/slowdevice.so" "$top_srcdir/tests/cluster/slowdevice.c" -ldl || bail_out "slowdevice.c does not compile"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n[ $# = 0 ] || export LD_PRELOAD=%s\nexec %s "$@"\n' "$here/slowdevice.so" "$here/measure" >"$here/wrapper"
    C on node5 mount --bind "$here/wrapper" "$measure"
    for _ in 1 2 3; do
        probe --mpi
        [ "$(by_mpi 'select(.state == "fault") | .nodes')" = '[]' ] || break
    done
    if [ "$(by_mpi 'select(.state == "fault")')" = '[]' ] && [[ $(by_mpi .text) =~ "not measured by MPI"|"measured often enough" ]]; then
        skip "by MPI: a node with a slow device" "something else took the processors"
    else
        is "$(by_mpi 'select(.state == "fault") | .nodes[0]')" '["node5"]' "by MPI: a node with a slow device"
    fi
    C on node5 umount "$measure"

    C on node5 mount --bind /dev/null "$(readlink -f "$mpi")"
    probe --mpi
    is "$(by_mpi 'select(.state == "fault") | .nodes')" '[["node5"]]' "by MPI: a node without the library"
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
