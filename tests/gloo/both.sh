#!/bin/bash
# A training whose ranks get their data by MPI and average gradients over Gloo: one job, one step, one verdict.
. "${top_srcdir:=$PWD}/tests/gloo/torch.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
"$python" -c 'import mpi4py.MPI, numpy' 2>/dev/null || skip_all "python3-mpi4py is not installed"
case $("$python" -c 'from mpi4py import MPI; print(MPI.Get_library_version().strip(chr(0)))') in
Open*) mpirun=(mpiexec.openmpi --oversubscribe --bind-to none -n 3) ;;
MPICH*) mpirun=(mpiexec.mpich -n 3) ;;
*) skip_all "mpi4py is of a library that is not known" ;;
esac
command -v "${mpirun[0]}" >/dev/null || skip_all "${mpirun[0]} is not installed"
both() { # OPTION...: rings in $dir/step
    rm -rf "$dir/step" "$dir/meet"
    sgrun "${mpirun[@]}" "$python" "$top_srcdir/tests/gloo/mixed.py" "$dir/meet" "$@"
}
report() { jq -c "$1" "$dir/report"; }
bare=$("${mpirun[@]}" "$python" "$top_srcdir/tests/gloo/mixed.py" "$dir/meet" 2>/dev/null)
like "$bare" "^loss -?0x" "without a guard the training ends"
both 1 100
is "$? $(cat "$dir/out")" "0 $bare" "guarded it computes the same, bit by bit"
is "$(report "[.state, .ranks, .name, .probe.missed, (.probe.events >= 3 * 300), $other_notes]")" '["finished",3,"mixed.py",0,true,0]' \
    "it is one job of three ranks, and the calls of both libraries are recorded" || echo "# $(report .notes)"
is "$(report '[.verdicts[]|select(.class == "straggler" or .class == "drift").culprits]')" '[["r1"]]' "the rank that works longer is named once, by what both show"
is "$(report '[.step_phases.source, .step_phases.ranks]')" '["PyTorch",3]' "and the phases of its steps are known"
done_testing
