#!/bin/bash
# The binding of tasks to NUMA nodes on a real private Slurm, whose node is made to look as if each half of its CPUs were one.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

last=$(($(nproc) - 1))
[ "$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)" = "0-$last" ] || skip_all "this process has not all processors, or there is one"
C_TIMEOUT=300
installed
up 1 --cpus 4
mkdir -p "$here/numa/node0" "$here/numa/node1"
half=$(((last + 1) / 2))
list() { [ "$1" -eq "$2" ] && echo "$1" || echo "$1-$2"; } # FIRST LAST
lower=$(list 0 $((half - 1))) upper=$(list $half $last)
echo "$lower" >"$here/numa/node0/cpulist"
echo "$upper" >"$here/numa/node1/cpulist"
chmod -R a+rX "$here/numa"
C on node1 mount --bind "$here/numa" /sys/devices/system/node || skip_all "/sys cannot be covered"

bound() { # OPTIONS of srun...: the CPUs of each task, in order
    C exec srun -l -N1 "$@" sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status >"$here/out" 2>"$here/err"
    echo "$? $(sort -n "$here/out" | sed 's/^ *[0-9]*: //' | tr '\n' ' ')"
}
says() { grep -c -- "$1" "$here/err"; }
all="0-$last"

is "$(bound -n2 --sync-guard=placement=on) $(wc -c <"$here/err")" "0 $lower $upper  0" "placement=on binds two tasks to a NUMA node each, and says nothing"
is "$(bound -n2 --slurmd-debug=verbose --sync-guard=placement=on) $(says 'task 0 is bound to NUMA node 0$')" "0 $lower $upper  1" "--slurmd-debug=verbose: it says to which"
is "$(bound -n2 --sync-guard=placement=off)" "0 $all $all " "placement=off binds nobody"
is "$(bound -n2 --slurmd-debug=verbose --sync-guard) $(says 'task 1 would be bound to NUMA node 1 with placement=on$')" "0 $all $all  1" "by default nobody is bound, and --slurmd-debug=verbose says to what a task would be"
is "$(bound -n2 --sync-guard=off)" "0 $all $all " "a step that is not guarded is left alone"
is "$(bound -n1 --sync-guard=placement=on)" "0 $all " "a single task may use the whole node"
is "$(bound -n2 --slurmd-debug=verbose --cpu-bind=none --sync-guard=placement=on) $(says 'task 0 is not bound to a NUMA node: SLURM_CPU_BIND_TYPE$')" "0 $all $all  1" \
    "--cpu-bind=none: left as the user wants it"
is "$(OMP_PLACES='{0}' bound -n2 --sync-guard=placement=on)" "0 $all $all " "OMP_PLACES: left as the user wants it"
is "$(bound -n2 --slurmd-debug=verbose -c$((half + 1)) --sync-guard=placement=on) $(says 'a NUMA node has too few CPUs for its tasks$')" "0 $all $all  2" \
    "tasks that need more CPUs than a NUMA node has are left alone"
C on node1 umount /sys/devices/system/node
if [ "$(cat /sys/devices/system/node/online 2>/dev/null)" = 0 ]; then
    is "$(bound -n2 --slurmd-debug=verbose --sync-guard=placement=on) $(says 'task 1 is not bound to a NUMA node: there is one NUMA node$')" "0 $all $all  1" \
        "the host itself, with one NUMA node: nobody is bound"
fi

done_testing
