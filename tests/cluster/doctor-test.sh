#!/bin/bash
# sgctl doctor --cluster on a real private Slurm: nothing on a healthy one, and each fault of one node with its name and alone.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

installed
up 4
# Slurm is not to end the allocation of a node that it finds down, however long this takes.
sed -i 's/^SlurmdTimeout=.*/SlurmdTimeout=0/' "$here/c/etc/slurm.conf"
C exec scontrol reconfigure
# slurmctld of 24.11 starts anew for it, and knows of no node until that has registered again.
all_idle() { [ "$(C exec sinfo -h -N -r -t idle -o %N | sort -u | wc -l)" = 4 ]; }
wait_for 300 all_idle || bail_out "the nodes do not become idle again"
inst=$here/inst conf=$here/c/etc/syncguard.conf
mkdir -p "$here/old/bin" "$here/empty"

doctor() { # leaves $here/out and $status
    C exec "$inst/bin/sgctl" doctor --cluster --json "$@" >"$here/out" 2>"$here/err"
    status=$?
}
faults() { jq -r '.findings[] | select(.state == "fault") | "\(.check):\(.nodes | join(","))"' "$here/out" | sort | tr '\n' ' '; }
says() { jq -r '.findings[] | select(.state == "fault") | .text' "$here/out" | grep -c -- "$1"; }
on_failure() {
    jq -r '.findings[] | "#   \(.state) \(.check): \(.text) -- \(.next)"' "$here/out" 2>/dev/null
    show "$here/err"
}
# Something else in the place of a file, on that node alone.
cover() { C on "$1" mount --bind "$2" "$3"; } # NODE WITH WHAT
uncover() { C on "$1" umount "$2"; }
# The same with no more than one byte that differs, at the end.
other_build() { # FILE: prints the path
    cp "$1" "$here/other" && printf '\0' >>"$here/other" && echo "$here/other"
}

doctor
is "$status $(faults)" "0 " "a healthy cluster: no fault, and exit status 0"
is "$(jq -r '.findings[] | select(.check == "setup" or .check == "clock") | .state' "$here/out" | tr '\n' ' ')" "ok ok " "a healthy cluster: setup and clocks of its nodes are ok"
like "$(jq -r '.findings[] | select(.check == "setup") | .text' "$here/out")" "^4 of 4 nodes " "all four nodes were looked at"
is "$(wc -c <"$here/err")" 0 "nothing is printed beside the answer"

cover node2 "$here/empty" "$inst/lib/syncguard"
doctor
is "$status $(faults)" "1 plugin:node2 probe:node2 " "a node without plugin and probe is named"
uncover node2 "$inst/lib/syncguard"

cover node3 "$here/empty" "$inst/libexec/syncguard"
doctor
is "$status $(faults) $(says "$inst/libexec/syncguard/syncguard-agent: No such file")" "1 agent:node3  1" "a node without the agent is named"
uncover node3 "$inst/libexec/syncguard"

cover node4 "$(other_build "$inst/libexec/syncguard/syncguard-agent")" "$inst/libexec/syncguard/syncguard-agent"
doctor
is "$status $(faults) $(says 'another build of version')" "1 agent:node4  1" "a node with another build of the agent is named"
uncover node4 "$inst/libexec/syncguard/syncguard-agent"

cat >"$here/old/bin/sgctl" <<'END'
#!/bin/sh
[ "$1" = --version ] && echo "sgctl (SyncGuard) 0.0.9" && exit
echo "sgctl: unknown option" >&2
exit 2
END
chmod 755 "$here/old/bin/sgctl"
cover node1 "$here/old/bin/sgctl" "$inst/bin/sgctl"
doctor
is "$status $(faults) $(says 'version 0.0.9, here ')" "1 version:node1  1" "a node with an old version is named"
uncover node1 "$inst/bin/sgctl"

cover node4 "$here/empty" "$inst/bin"
doctor
is "$status $(faults) $(says 'not found')" "1 sgctl:node4  1" "a node without sgctl is named, with what its shell said"
uncover node4 "$inst/bin"

{ cat "$conf"; echo 'HistoryDays=7'; } >"$here/other.conf"
cover node2 "$here/other.conf" "$conf"
doctor
is "$status $(faults)" "1 configuration:node2 " "a node with another configuration is named"
uncover node2 "$conf"

C on node3 mount -t tmpfs -o size=1m shm /dev/shm
doctor
is "$status $(faults) $(says '/dev/shm has 1[.0-9]* MB left')" "1 shared memory:node3  1" "a node with too little shared memory is named"
C on node3 mount -o remount,ro /dev/shm
doctor
is "$status $(faults) $(says '/dev/shm: Read-only file system')" "1 shared memory:node3  1" "a node whose shared memory cannot be written is named"
uncover node3 /dev/shm

# What others put there the plugin replaces, but not where something is mounted.
if [ "$(id -u)" = 0 ]; then
    C on node2 sh -c 'mkdir -p /dev/shm/syncguard && mount -t tmpfs -o uid=65534,mode=777 x /dev/shm/syncguard'
    doctor
    is "$status $(faults) $(says '/dev/shm/syncguard is not a directory that only root can change')" "1 shared memory:node2  1" "a node on which the plugin's directory is another user's is named"
    C on node2 umount /dev/shm/syncguard
fi

: >"$here/none.conf"
cover node1 "$here/none.conf" "$here/c/etc/plugstack.d/syncguard.conf"
doctor
is "$status $(faults)" "1 plugin:node1 " "a node whose plugstack.conf lacks the plugin is named"
uncover node1 "$here/c/etc/plugstack.d/syncguard.conf"

# A program that goes by the name of sgctl and takes LD_PRELOAD away, as a site's wrapper would.
cat >"$here/wrapper" <<END
#!/bin/sh
unset LD_PRELOAD
exec "$here/sgctl" "\$@"
END
cp "$inst/bin/sgctl" "$here/sgctl" && chmod 755 "$here/wrapper"
cover node4 "$here/wrapper" "$inst/bin/sgctl"
doctor
is "$status $(faults) $(says 'added .*libsyncguard_probe.so to LD_PRELOAD, and the task has')" "1 preload:node4  1" "a node on which LD_PRELOAD is removed is named"
uncover node4 "$inst/bin/sgctl"

cat >"$here/clock" <<END
#!/bin/sh
"$here/sgctl" "\$@" | sed 's/"at_s": *1/"at_s": 2/'
END
chmod 755 "$here/clock"
cover node2 "$here/clock" "$inst/bin/sgctl"
doctor
is "$status $(faults) $(says 'ahead of this host')" "1 clock:node2  1" "a node whose clock is ahead is named"
uncover node2 "$inst/bin/sgctl"

cat >"$here/slow" <<END
#!/bin/sh
sleep 60
END
chmod 755 "$here/slow"
cover node3 "$here/slow" "$inst/bin/sgctl"
doctor
is "$status $(faults)" "1 answers:node3 " "a node that does not answer within the limit is named, and the others are heard"
uncover node3 "$inst/bin/sgctl"
wait_for 300 sh -c "[ -z \"\$($slurm --dir $here/c exec squeue -h)\" ]"
is "$(C exec squeue -h | wc -l)" 0 "no job is left in the queue"

C exec salloc -Q -N2 -w 'node[2-3]' "$inst/bin/sgctl" doctor --cluster --json >"$here/out" 2>"$here/err"
is "$? $(faults) $(jq -r '.findings[] | select(.check == "setup") | .text' "$here/out" | cut -c 1-18)" "0  2 of 2 nodes asked" "in an allocation its nodes are looked at"

doctor
is "$status $(faults)" "0 " "with all faults mended there is none"
C exec "$inst/bin/sgctl" doctor --cluster >"$here/text"
is "$(grep -cE '^ok +(setup|clock) ' "$here/text") $(grep -c '^fault' "$here/text")" "2 0" "the same as text"

# Its slurmd alone hangs, and is gone then: srun would wait for the node, and Slurm takes it for idle until it finds out. When it does depends
# on how long this takes: here it shows all nodes as idle to the end. The allocation is taken while it still can be, with a first step, which
# Slurm does not start on one node while it knows that another of them does not respond.
mkdir "$here/unaware"
printf '#!/bin/sh\n%s "$@" | sed "s/ State=[A-Z+*_]*/ State=IDLE/"\n' "$(command -v scontrol)" >"$here/unaware/scontrol"
chmod 755 "$here/unaware/scontrol"
cat >"$here/allocated" <<END
#!/bin/sh
srun -n2 true && touch $here/taken
while [ ! -e $here/go ]; do sleep .2; done
exec $inst/bin/sgctl doctor --cluster --json
END
chmod 755 "$here/allocated"
C_TIMEOUT=1800 C exec salloc -Q -N2 -w 'node[2-3]' "$here/allocated" >"$here/allocated.out" 2>"$here/allocated.err" &
allocation=$!
wait_for 120 test -e "$here/taken"
ok $? "an allocation of node2 and node3 is taken while both are well"

unaware() {
    C exec env PATH="$here/unaware:$PATH" "$inst/bin/sgctl" doctor --cluster --json >"$here/out" 2>"$here/err"
    status=$?
}
C on node3 sh -c 'kill -STOP $(pidof slurmd)'
unaware
is "$status $(faults) $(says 'no slurmd answers on node3 (it accepts a connection, and says nothing)')" "1 slurmd:node3  1" "a node whose slurmd hangs is named"
like "$(jq -r '.findings[] | select(.check == "setup") | .text' "$here/out")" "^3 of 3 nodes asked " "the others are heard, without waiting for it"
C on node3 sh -c 'kill -KILL $(pidof slurmd)'
unaware
is "$status $(faults) $(says 'no slurmd answers on node3 (connection refused)')" "1 slurmd:node3  1" "a node whose slurmd is dead is named"
like "$(jq -r '.findings[] | select(.check == "setup") | .text' "$here/out")" "^3 of 3 nodes asked " "the others are heard, without waiting for it"

touch "$here/go"
wait "$allocation"
cp "$here/allocated.out" "$here/out"
cp "$here/allocated.err" "$here/err"
is "$(faults) $(jq -r '.findings[] | select(.check == "setup") | .text' "$here/out" | cut -c 1-17)" "slurmd:node3  1 of 1 node asked" "the same in an allocation that has it"

C crash node4
unaware
is "$status $(faults) $(says 'no slurmd answers on node4 ')" "1 slurmd:node3 slurmd:node4  1" \
    "a node that is gone before Slurm knows it is named, and the others are heard"

done_testing
