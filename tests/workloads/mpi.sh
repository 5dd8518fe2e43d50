# mpi.sh - for test scripts, to be read with `.`: run MPI programs without Slurm, more ranks than cores.
#   mpi_libraries PROGRAM        the libraries (openmpi, mpich) that PROGRAM.LIBRARY is built for
#   mpi_run LIBRARY RANKS CMD... bounded by MPI_TIMEOUT seconds (120)

# Ranks that wait give their core away; without it 8 ranks on 2 cores crawl.  mpirun refuses root by itself.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Shared memory only: nothing here is to touch the network.
export OMPI_MCA_btl=vader,self OMPI_MCA_pml=ob1

mpi_libraries() {
    for l in openmpi mpich; do
        [ -x "$1.$l" ] && command -v "mpiexec.$l" >/dev/null && echo "$l"
    done
}

mpi_run() {
    mpi_library=$1 mpi_ranks=$2
    shift 2
    case $mpi_library in
    openmpi) set -- mpiexec.openmpi --oversubscribe --bind-to none -n "$mpi_ranks" "$@" ;;
    *) set -- "mpiexec.$mpi_library" -n "$mpi_ranks" "$@" ;;
    esac
    # A launcher that waits for ranks it has lost ignores SIGTERM.
    timeout -k 10 "${MPI_TIMEOUT:-120}" "$@"
}
