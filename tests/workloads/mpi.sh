# mpi.sh - for test scripts, to be read with `.`: run MPI programs without Slurm, more ranks than cores.
#   mpi_libraries PROGRAM        the libraries (openmpi, mpich) that PROGRAM.LIBRARY is built for
#   mpi_run LIBRARY RANKS CMD... bounded by MPI_TIMEOUT seconds (300); ends with 124, or 137 where the launcher had to be killed, and
#                                then nothing of it is left running
#   mpi_guarded LIBRARY RANKS CMD...  the same with the probe ($probe) and a new step's directory $dir/step
#   mpi_aborts LIBRARY LOG CMD...  runs a CMD that calls mpi_run, whose program ends with MPI_Abort; what is printed goes to LOG

# Ranks that wait give their core away; without it 8 ranks on 2 cores crawl.  For MPICH: tests/workloads/gentle.c.  mpirun refuses
# root by itself.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Shared memory only: nothing here is to touch the network.
export OMPI_MCA_btl=vader,self OMPI_MCA_pml=ob1

mpi_libraries() {
    for l in openmpi mpich; do
        [ -x "$1.$l" ] && command -v "mpiexec.$l" >/dev/null && echo "$l"
    done
}

# Launchers give each rank a process group of its own, so that a timeout ends the launcher alone, and a rank that spins would
# disturb everything that runs after it.  What is left is known by its environment; it is reported and killed.
mpi_kill_left() {
    sleep 1 # what is dying already is not reported
    for mpi_process in /proc/[0-9]*; do
        grep -qsz "^SYNCGUARD_MPI_RUN=$1\$" "$mpi_process/environ" || continue
        echo "mpi_run: still running: $(tr '\0' ' ' <"$mpi_process/cmdline") ($(sed -n 's/^State:[[:space:]]*//p' "$mpi_process/status") $(cat "$mpi_process/wchan"))"
        kill -KILL "${mpi_process#/proc/}"
    done >&2 2>/dev/null
}

# mpi_gentle CMD...: sets mpi_command, the same with gentle.so loaded: behind the probe, where CMD loads that
mpi_gentle() {
    local word preloads=

    mpi_command=()
    for word; do
        case $word in
        LD_PRELOAD=*) word=$word:$mpi_nap preloads=yes ;;
        esac
        mpi_command+=("$word")
    done
    [ -n "$preloads" ] || mpi_command=(env "LD_PRELOAD=$mpi_nap" "${mpi_command[@]}")
}
mpi_nap=$(readlink -f "$top_builddir")/tests/workloads/gentle.so

mpi_run() {
    mpi_library=$1 mpi_ranks=$2
    shift 2
    case $mpi_library in
    openmpi) set -- mpiexec.openmpi --oversubscribe --bind-to none -n "$mpi_ranks" "$@" ;;
    *)
        mpi_gentle "$@"
        set -- "mpiexec.$mpi_library" -n "$mpi_ranks" "${mpi_command[@]}"
        ;;
    esac
    # A launcher that waits for ranks it has lost ignores SIGTERM.
    mpi_runs=$((${mpi_runs:-0} + 1))
    mpi_id=$$.$mpi_runs
    SYNCGUARD_MPI_RUN=$mpi_id timeout -k 10 "${MPI_TIMEOUT:-300}" "$@"
    mpi_status=$?
    case $mpi_status in
    124 | 137) mpi_kill_left "$mpi_id" ;;
    esac
    return $mpi_status
}

mpi_guarded() {
    local library=$1 ranks=$2
    shift 2
    rm -rf "$dir/step"
    mkdir -m 700 "$dir/step"
    mpi_run "$library" "$ranks" env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$@"
}

# In about one of 50 runs that end with MPI_Abort on a busy machine, guarded or not, Open MPI's launcher crashes in
# PMIx_server_finalize(), or waits there for ever and ignores SIGTERM, though its ranks have ended.  Its exit status is not the
# program's then, and the run is repeated.
mpi_aborts() {
    local library=$1 log=$2 status
    shift 2
    for _ in 1 2 3 4 5; do
        MPI_TIMEOUT=120 "$@" >"$log" 2>&1
        status=$?
        case $library:$status in
        openmpi:139) grep -q PMIx_server_finalize "$log" || break ;;
        openmpi:137) ! grep -q 'mpi_run: still running' "$log" || break ;;
        *) break ;;
        esac
    done
    return $status
}
