#!/bin/bash
# Jobs with a /dev/shm of their own (job_container/tmpfs) on a real private Slurm: guarded like others, and told where that cannot be.
# All on one CPU: Linux 6.18 numbers the namespaces made on each CPU by themselves, and a mount namespace can be held only from within one of a lower
# number, so that Slurm's own part of this (_create_ns: ns base mount failed: Invalid argument) fails by chance on two.
[ -n "${on_one_cpu-}" ] || on_one_cpu=yes exec taskset -c "$(taskset -cp $$ | sed 's/.* //; s/[,-].*//')" "$BASH" "$0"
export TMPDIR=/var/tmp # the jobs have a /tmp of their own, too: neither what they run can be there, nor where (-D)
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

[ "$(id -u)" = 0 ] || skip_all "private mounts need root"
ls /usr/{lib*,lib*/*,local/lib*}/slurm*/job_container_tmpfs.so 2>/dev/null | grep -q . || skip_all "Slurm has no job_container/tmpfs"
needs "$top_builddir/tests/workloads/trainer.openmpi" "the trainer is not built for Open MPI"
trainer=$here/trainer
cp "$top_builddir/tests/workloads/trainer.openmpi" "$trainer"
installed
mkdir -p "$here"/private/node{1,2}
printf "BasePath=$here/private\\n" >"$here/job_container.conf"
printf 'JobContainerType=job_container/tmpfs\nPrologFlags=Contain\n' >"$here/extra.conf"
up 2 --conf "$here/extra.conf" --beside "$here/job_container.conf"
C on node1 touch /dev/shm/host
is "$(C exec srun -D / -N1 -w node1 sh -c 'ls /dev/shm')" "" "a job has a /dev/shm of its own"

# Three guarded steps in one job, and what an unguarded one finds after them.
cat >"$here/steps" <<'STEPS'
#!/bin/bash
for _ in 1 2 3; do srun -N2 --sync-guard "$1" --steps 60 --batch 16 >>"$2" 2>>"$3" || echo "status $?"; done
echo "mounts $(srun -N1 grep -c ' /dev/shm/syncguard ' /proc/self/mountinfo)"
STEPS
chmod +x "$here/steps"
is "$(C exec salloc -Q -D / -N2 "$here/steps" "$trainer" "$here/out" "$here/err" 2>&1)" "mounts 1" "three guarded steps of one job exit with 0, and share one mount"
is "$(cat "$here/err")" "" "they print nothing on standard error"
for step in 0 1 2; do
    job=2.$step
    until_true 60 '.state == "finished"'
    is "$(figure '[.probe.ranks_guarded, .probe.ranks_total, .probe.dropped, .probe.missed, (.notes | length)] | join(" ")')" "2 2 0 0 0" \
        "step $step: both ranks were guarded, no record was dropped or missed, and there is no note"
done

# Something of the plugin's own user is in the place of its directory: it is not followed, and the job runs.
cat >"$here/link" <<'LINK'
#!/bin/bash
srun -N1 ln -s /etc /dev/shm/syncguard
srun -N1 --sync-guard "$1" --steps 5 --batch 16 | grep -c ^result:
LINK
chmod +x "$here/link"
is "$(C exec salloc -Q -D / -N1 -w node1 "$here/link" "$trainer" 2>"$here/err")" 1 "a job that is not shown the directory runs"
like "$(cat "$here/err")" "^sync-guard: 3.1 on node1 runs unguarded: a task does not see /dev/shm/syncguard/[0-9]*.3.1.node1: " "one line says why it is not guarded"

wait_for 20 sh -c "[ -z \"\$($slurm --dir $here/c on node1 ls /dev/shm/syncguard)\" ]"
ok $? "no step's directory is left on the node"
done_testing
