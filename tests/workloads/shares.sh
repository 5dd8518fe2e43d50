#!/bin/bash
# What a job's time goes into: the shares that SyncGuard reports of a run, beside those that the program took of the same run with its own clocks.
# Shares of one run, so that it does not matter how fast the machine is.  But a rank that has no core between two of these clocks' readings is
# in one of them and not in the other: it takes a machine with nothing else to do (SYNCGUARD_MEASURE=yes, ./check --full).
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
: "${top_builddir:?}"
[ "${SYNCGUARD_MEASURE-}" = yes ] || skip_all "it takes a machine with nothing else to do (SYNCGUARD_MEASURE=yes)"
libraries=$(mpi_libraries "$top_builddir/tests/workloads/pipeline")
[ -n "$libraries" ] || skip_all "there is no MPI library"
[ -x /usr/sbin/munged ] || skip_all "munged is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
dir=$(mktemp -d /tmp/shares-test-XXXXXX) || exit 99
probe=$top_builddir/.libs/libsyncguard_probe.so
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cat >"$dir/own.conf" <<CONF
AgentPath=$top_builddir/syncguard-agent
ProbePath=$probe
CONF
export top_srcdir top_builddir SYNCGUARD_CONF=$dir/own.conf TMPDIR=$dir

# agrees WHAT COMMAND...: assertion: the shares of a run are at most 3 points apart
agrees() {
    local what=$1

    shift
    if ! timeout -k 5 300 "$top_builddir/sgrun" --no-screen --report="$dir/report" "$@" >"$dir/out" 2>"$dir/err"; then
        ok 1 "$what ends well"
        show "$dir/out" "$dir/err"
        return
    fi
    jq -r '[.shares.compute, .shares.point_to_point, .shares.communication + .shares.synchronisation, .efficiency.run.parallel] | @tsv' \
        "$dir/report" >"$dir/reported"
    awk -v reported="$(cat "$dir/reported")" '
        function far(name, own, is) {
            if (is == "" || own - is > 0.03 || is - own > 0.03) bad = 1
            text = text sprintf(", %s %.1f %% and %.1f %%", name, 100 * own, 100 * is)
        }
        /^shares: / {
            split(reported, r, "\t")
            far("compute", $3, r[1]); far("messages", $5, r[2]); far("collectives", $7, r[3]); far("efficiency", $3, r[4])
            seen = 1
        }
        END { print substr(text, 3); exit bad || !seen }' "$dir/out" >"$dir/said"
    ok $? "$what: its own clocks and the report agree on where its time goes" || show "$dir/err" "$dir/report"
    echo "# $(cat "$dir/said")"
}

# by_mpi WHAT PROGRAM OPTION...: the same, of four ranks of a program of ours
by_mpi() {
    agrees "$mpi: $1" bash -c '. "$top_srcdir/tests/workloads/mpi.sh"; mpi_run "$@"' - "$mpi" 4 env "LD_PRELOAD=$probe" \
        "$top_builddir/tests/workloads/$2.$mpi" --seconds 8 "${@:3}"
}

[ -d /usr/share/common-licenses ] || text="--text $top_srcdir/LICENSE"
small="--hidden 48 --context 6 --embed 8 ${text-}"
for mpi in $libraries; do
    for gentle in '' --gentle; do
        how=${gentle:+, in loops of tests}
        # shellcheck disable=SC2086
        {
            by_mpi "a trainer$how" trainer $gentle --batch 64 $small --device 0.01
            by_mpi "a pipeline$how" pipeline $gentle --stages 2 --uneven 1 --batch 64 $small --device 0.02
            by_mpi "a halo exchange$how" halo $gentle --rows 128 --columns 128 --device 0.004
        }
    done
done
if /usr/bin/python3 -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null; then
    export OMP_NUM_THREADS=1
    agrees "Gloo: a training that averages its gradients" /usr/bin/python3 "$top_srcdir/tests/workloads/train.py" average --layers 1 --steps 250 --slow 2 --by 10
    agrees "Gloo: a pipeline" /usr/bin/python3 "$top_srcdir/tests/workloads/train.py" pipeline --steps 100 --slow 1 --by 10
else
    skip "Gloo: a training and a pipeline" "python3-torch is not installed"
fi
done_testing
