#!/bin/bash
# Advice on switches at submission on a real private Slurm of two leaf switches with two nodes each: what is said, and what Slurm is asked for.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

installed
up 4 --cpus 2 --leaf 2
plugin=$here/inst/lib/syncguard/syncguard.so
use() { # ARGUMENTS of plugstack.conf
    echo "optional $plugin conf=$here/c/etc/syncguard.conf $*" >"$here/c/etc/plugstack.d/syncguard.conf"
}
use

# Submit a held job: $switches is what Slurm was asked for ("none"), $here/err what was said.
submit() { # SBATCH'S OPTIONS...
    switches=refused
    job=$(C exec sbatch --parsable -H -o /dev/null "$@" 2>"$here/err") || return
    switches=$(C exec scontrol show job "$job" | sed -n 's/.*Switches=\([^ ]*\).*/\1/p')
    switches=${switches:-none}
    C exec scancel "$job"
}
says() { grep -c -- "sync-guard: $1" "$here/err"; }
script() { # stdin becomes a job script
    { echo '#!/bin/bash'; cat; } >"$here/job.sh"
}
on=--sync-guard=placement=on
fit='2 nodes fit below 1 of 2 leaf switches: '

submit -N2 "$on" --wrap true
is "$switches $(says "${fit}Slurm is asked for that with --switches=1@1:00") $(wc -l <"$here/err")" "1@00:01:00 1 1" "placement=on: Slurm is asked for one switch, for a minute at most, and one line says so"
submit -N2 -v --wrap true
is "$switches $(says '')" "none 0" "without the option nothing is asked for and nothing said"
submit -N2 --sync-guard=placement=advise --wrap true
is "$switches $(says "$fit--switches=1@1:00 asks Slurm for that") $(wc -l <"$here/err")" "none 1 1" "placement=advise: a line, and nothing is asked for"
submit -N2 --sync-guard --wrap true
is "$switches $(wc -c <"$here/err")" "none 0" "by default nothing is asked for and nothing said"
submit -N2 -v --sync-guard --wrap true
is "$switches $(says "$fit")" "none 1" "by default -v has the line"
submit -N2 -v --sync-guard=placement=off --wrap true
is "$switches $(says '')" "none 0" "placement=off: nothing"
submit -N2 -v --sync-guard=off,placement=on --wrap true
is "$switches $(says '')" "none 0" "--sync-guard=off: nothing"

submit -N2 -v "$on" --switches=2@2:00 --wrap true
is "$switches $(says 'no advice on switches: --switches is given')" "2@00:02:00 1" "the user's --switches stays"
SBATCH_REQ_SWITCH=2 submit -N2 "$on" --wrap true
is "${switches%@*} $(wc -c <"$here/err")" "2 0" "SBATCH_REQ_SWITCH stays"
SBATCH_WAIT4SWITCH=2 submit -N2 "$on" --wrap true
is "$switches" none "SBATCH_WAIT4SWITCH alone: nothing is asked for"
submit -w node1,node3 "$on" --wrap true
is "$switches $(wc -c <"$here/err")" "none 0" "-w: nothing is asked for"
for nodes in 1 3 4 2-3; do
    submit -N$nodes "$on" --wrap true
    is "$switches $(wc -c <"$here/err")" "none 0" "-N$nodes: nothing is asked for"
done
submit -n4 --ntasks-per-node=2 "$on" --wrap true
is "$switches" "1@00:01:00" "tasks over tasks per node are nodes"

script <<'JOB'
#SBATCH -N2 --sync-guard=placement=on

# a comment
#SBATCH --job-name "two words" # one more
true
#SBATCH --switches=2
JOB
submit "$here/job.sh"
is "$switches $(says "$fit")" "1@00:01:00 1" "directives of the script: Slurm is asked for one switch"
submit --sync-guard=placement=advise "$here/job.sh"
is "$switches" none "the command line overrides the script"
PATH=$here:$PATH submit job.sh
is "$switches" "1@00:01:00" "the script is found as sbatch finds it"
script <<'JOB'
#SBATCH -N2 --switches 2@2:00
true
JOB
submit "$on" "$here/job.sh"
is "$switches" "2@00:02:00" "the script's --switches stays"
submit -v "$on" <"$here/job.sh"
is "$switches $(says 'no advice on switches: the script comes from standard input')" "2@00:02:00 1" "a script from standard input is left as it is"
script <<'JOB'
#SBATCH -N2 -wnode[1,3]
true
JOB
submit "$on" "$here/job.sh"
is "$switches" none "the script's -w: nothing is asked for"

script <<'JOB'
#SBATCH -N2
env
scontrol show job "$SLURM_JOB_ID"
JOB
C exec sbatch -W -o "$here/out" "$on" "$here/job.sh" >/dev/null 2>&1
is "$? $(grep -c 'REQ_SWITCH\|WAIT4SWITCH' "$here/out") $(grep -c 'Switches=1@00:01:00' "$here/out") $(grep -c 'NodeList=node\[\(1-2\|3-4\)\]' "$here/out")" "0 0 1 1" \
    "the job starts below one switch, and its environment has no trace"
for launcher in srun 'salloc srun'; do
    # shellcheck disable=SC2086
    set -- $launcher
    C exec "$1" -N2 "$on" ${2:+"$2" -N1} sh -c 'env; scontrol show job "$SLURM_JOB_ID"' >"$here/out" 2>"$here/err"
    is "$? $(grep -c 'REQ_SWITCH\|WAIT4SWITCH' "$here/out") $(sort -u "$here/out" | grep -c 'Switches=1@00:01:00') $(says "${fit}Slurm is asked")" "0 0 1 1" \
        "$1: Slurm is asked for one switch, and the environment has no trace"
done
C exec salloc -Q -N2 srun -v --sync-guard true 2>"$here/err"
is "$? $(says 'no advice')$(says "$fit")" "0 00" "srun inside an allocation advises nothing on switches"

# Nodes that held jobs back: what sgctl prints, or another program of its name.
sgctl=$here/inst/bin/sgctl
mv "$sgctl" "$sgctl.real"
answer() { # WORDS for a shell
    printf '#!/bin/sh\n%s\n' "$1" >"$sgctl"
    chmod +x "$sgctl"
}
# The plugin waits for 0.2 s, in which a busy machine may not have started sgctl: again, until it was in time.
answered() {
    submit -N2 "$on" --wrap true
    [ "$(wc -l <"$here/err")" -gt 1 ]
}
answer 'echo node2,node9'
wait_for 300 answered
is "$switches $(says 'node2 held jobs back again and again: --exclude=node2 keeps this one off') $(C exec scontrol show job "$job" | grep -c 'ExcNodeList=.*node2')" "1@00:01:00 1 0" \
    "a node of the partition that held jobs back is named, and not excluded"
submit -N2 --sync-guard --wrap true
is "$(wc -c <"$here/err")" 0 "by default it is not named"
submit -N2 "$on" --exclude=node1 --wrap true
is "$(says 'node2')" 0 "nor where the user excludes nodes"
started() {
    submit -N2 "$on" --wrap true
    [ -s "$here/pid" ]
}
answer "echo \$\$ >'$here/pid'; exec sleep infinity"
wait_for 300 started
is "$switches $(wc -l <"$here/err")" "1@00:01:00 1" "an sgctl that does not end holds nothing up"
[ -s "$here/pid" ] && ! C exec sh -c "kill -0 $(cat "$here/pid") 2>/dev/null"
ok $? "and is ended"
mv "$sgctl.real" "$sgctl"
C controller stop >/dev/null
submit -N2 "$on" --wrap true
is "$switches $(wc -l <"$here/err")" "1@00:01:00 1" "a controller that is down holds nothing up"

use default=on placement=on
submit -N2 --wrap true
is "$switches" "1@00:01:00" "placement=on and default=on in plugstack.conf hold for jobs without the option"
use partition=main:on,placement=on
submit -N2 --wrap true
is "$switches" "1@00:01:00" "so does partition=main:on,placement=on, main being the default partition"
submit -N2 --sync-guard=off --wrap true
is "$switches" none "--sync-guard=off overrides them"

echo 'SwitchName=top Switches=top' >"$here/broken.conf"
use topology="$here/broken.conf"
submit -N2 "$on" --wrap true
is "$switches $(wc -l <"$here/err") $(says "no advice on switches: $here/broken.conf:1: ")" "none 1 1" "a broken topology.conf: the job is submitted, and one line names the place"
use topology="$here/nowhere.conf"
submit -N2 "$on" --wrap true
is "$switches $(wc -c <"$here/err")" "none 0" "no topology.conf: the job is submitted"
printf -- '- topology: eth\n  flat: true\n' >"$here/c/etc/topology.yaml"
use
submit -N2 -v "$on" --wrap true
is "$switches $(says "no advice on switches: .*/topology.yaml: ")" "none 1" "topology.yaml beside slurm.conf is read in place of topology.conf"
rm "$here/c/etc/topology.yaml"
C exec sinfo -h -N -o %T >"$here/out"
is "$(sort -u "$here/out" | tr '\n' ' ')" "idle " "no node was drained"

done_testing
