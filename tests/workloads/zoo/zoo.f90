! zoo.f90 - collectives from Fortran (mpi_f08): what a probe sees of them must be what C programs would show.
! Prints the lines that mpizoo prints, for the world and one duplicate, and "zoo: rank=R ok".
program zoo
    use mpi_f08
    implicit none
    integer, parameter :: rounds = 5
    integer :: rank, size, i, total, word
    integer :: all(1024)
    logical :: good, flag
    type(MPI_Comm) :: copy
    type(MPI_Request) :: request(2)
    type(MPI_Win) :: window
    integer, asynchronous :: put(64)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    good = .true.
    do i = 1, rounds
        call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        good = good .and. total == size * (size + 1) / 2
        word = merge(i, 0, rank == 0)
        call MPI_Bcast(word, 1, MPI_INTEGER, 0, copy)
        good = good .and. word == i
        call MPI_Iallreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, copy, request(1))
        call MPI_Ibarrier(MPI_COMM_WORLD, request(2))
        if (mod(i, 2) == 0) then
            call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
        else
            call MPI_Wait(request(1), MPI_STATUS_IGNORE)
            flag = .false.
            do while (.not. flag)
                call MPI_Test(request(2), flag, MPI_STATUS_IGNORE)
            end do
        end if
        good = good .and. total == size * (size + 1) / 2
        call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD)
        good = good .and. all(size) == size - 1
        call MPI_Barrier(copy)
    end do
    call MPI_Win_create(put, int(256, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_fence(0, window)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    good = good .and. put(4) == mod(rank + size - 1, size)
    call MPI_Win_free(window)
    call MPI_Comm_free(copy)
    print '(a,i0,a,i0,a,i0,a,i0,a)', 'zoo: rank=', rank, ' comm=world size=', size, ' place=', rank, &
        ' first=0 last=', size - 1, ' instance=0 inter=0 total=16 nonblocking=5 persistent=0 failed=0 ' // &
        'barrier=5 allgather=5 allreduce=5 comm_create=1'
    print '(a,i0,a,i0,a,i0,a,i0,a)', 'zoo: rank=', rank, ' comm=dup size=', size, ' place=', rank, &
        ' first=0 last=', size - 1, ' instance=1 inter=0 total=15 nonblocking=5 persistent=0 failed=0 ' // &
        'barrier=5 bcast=5 allreduce=5'
    print '(a,i0,a,a)', 'zoo: rank=', rank, ' ', trim(merge('ok    ', 'FAILED', good))
    call MPI_Finalize()
    if (.not. good) stop 1
end program zoo
