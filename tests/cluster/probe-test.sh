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
    measured=$(jq -c '[.findings[] | select(.check | IN("delay", "rate", "place", "reach", "measured"))]' "$here/out")
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

C shape node3 100mbit
probe
found '[["rate",["node3"]]]' "a shaped link"
C shape node3 off

C shape node6 5ms/0us
probe
found '[["delay",["node6"]]]' "a link that is delayed one way"
C shape node6 off

C exec sgctl doctor --cluster --probe >"$here/out" 2>"$here/err"
is "$(grep -c '^ok  *measured  *66 of 66 pairs' "$here/out")" 1 "faults that were removed are not found, and the text says what was measured"

mv "$here/inst/libexec/syncguard/syncguard-measure" "$here/away"
probe
is "$(jq -c '[.[] | [.state, .check, (.text | startswith("syncguard-measure did not start on 12 of 12 nodes"))]]' <<<"$measured")" \
    '[["unknown","measured",true]]' "a program that is missing is said so, with srun's words"
mv "$here/away" "$here/inst/libexec/syncguard/syncguard-measure"
C exec squeue -h >"$here/out"
is "$(wc -l <"$here/out")" 0 "no job is left"

done_testing
