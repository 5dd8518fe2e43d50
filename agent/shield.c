#include "agent/shield.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#if HAVE_SECCOMP && !SANITIZED
#include <seccomp.h>
#endif

#include "common/xalloc.h"

void shield_raise(void)
{
    if (SANITIZED)
        return;
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#if HAVE_SECCOMP && !SANITIZED

/* Names between blanks, because not every architecture and release has each of them. */
static const char *const allowed[] = {
    /* files; /proc, /sys, shared memory, locks, directory changes */
    "access chdir close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fallocate "
    "fchdir fcntl fcntl64 fdatasync flock fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate "
    "ftruncate64 getcwd getdents getdents64 inotify_add_watch inotify_init inotify_init1 inotify_rm_watch "
    "ioctl _llseek link linkat lseek lstat lstat64 mkdir mkdirat newfstatat open openat openat2 pread64 "
    "preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv rename renameat "
    "renameat2 rmdir stat stat64 statfs statfs64 statx symlink symlinkat truncate umask unlink unlinkat "
    "utimensat write writev",
    /* memory, also that of libraries loaded later */
    "brk get_mempolicy madvise mbind membarrier mincore mlock mlock2 mmap mmap2 mprotect mremap msync "
    "munlock munmap",
    /* networks; socket() is below */
    "accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmsg "
    "send sendmmsg sendmsg sendto setsockopt shutdown socketpair",
    /* waiting and time */
    "alarm clock_getres clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64 epoll_create "
    "epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 getitimer gettimeofday "
    "nanosleep _newselect pause pipe pipe2 poll ppoll ppoll_time64 pselect6 pselect6_time64 "
    "restart_syscall select setitimer time timer_create timer_delete timer_getoverrun timer_gettime "
    "timer_settime timerfd_create timerfd_gettime timerfd_settime times",
    /* threads and their scheduling; clone() is below */
    "arch_prctl exit exit_group futex futex_time64 futex_waitv get_robust_list get_thread_area getcpu "
    "getpriority gettid riscv_flush_icache rseq sched_get_priority_max sched_get_priority_min "
    "sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_setaffinity sched_yield "
    "set_robust_list set_thread_area set_tid_address setpriority",
    /* signals, to ranks of the same user among others */
    "kill pidfd_open pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo "
    "rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 sigaltstack signalfd signalfd4 "
    "sigreturn tgkill tkill wait4 waitid waitpid",
    /* what it is, and on what machine */
    "getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid getpgrp getpid "
    "getppid getrandom getresgid getresgid32 getresuid getresuid32 getrlimit getrusage getsid getuid "
    "getuid32 prlimit64 setrlimit sysinfo ugetrlimit uname",
};

static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
static const int prctls[] = { PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                              PR_GET_SECCOMP };

/* Allow each call that is named in the list and exists here. */
static int allow_calls(scmp_filter_ctx f, const char *names)
{
    char name[64];
    int rc = 0, length;

    for (; !rc && sscanf(names, " %63s%n", name, &length) == 1; names += length) {
        int nr = seccomp_syscall_resolve_name(name);

        if (nr != __NR_SCMP_ERROR)
            rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 0);
    }
    return rc;
}

/* Allow a call where these bits of its first argument have this value. */
static int allow_where(scmp_filter_ctx f, int nr, uint64_t bits, uint64_t value)
{
    struct scmp_arg_cmp first = { .arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = value };

    return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, nr, 1, &first);
}

int shield_filter(struct err *err)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int rc = f ? 0 : -ENOMEM; /* 0, or a negative errno */

    for (size_t i = 0; !rc && i < ARRAY_SIZE(allowed); i++)
        rc = allow_calls(f, allowed[i]);
    for (size_t i = 0; !rc && i < ARRAY_SIZE(families); i++)
        rc = allow_where(f, SCMP_SYS(socket), UINT32_MAX, (uint64_t)families[i]);
    for (size_t i = 0; !rc && i < ARRAY_SIZE(prctls); i++)
        rc = allow_where(f, SCMP_SYS(prctl), UINT32_MAX, (uint64_t)prctls[i]);
    /* Threads, but no processes.  The flags of clone3() are in memory, where a filter cannot see them;
     * without it libc uses clone(). */
    if (!rc)
        rc = allow_where(f, SCMP_SYS(clone), CLONE_THREAD, CLONE_THREAD);
    if (!rc)
        rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* All threads that libraries may have started. */
    if (!rc)
        rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!rc)
        rc = seccomp_load(f);
    if (f)
        seccomp_release(f);
    return rc ? err_set(err, "cannot set the filter of system calls: %s", strerror(-rc)) : 0;
}

#else

int shield_filter(struct err *err)
{
    (void)err;
    return 0;
}

#endif
