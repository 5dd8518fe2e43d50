#!/bin/bash
# A program in an odd environment does with the probe preloaded what it does without: the same output and exit status, nothing more on standard
# error. Where the probe can be loaded and its ring made, the calls are in it. (What a job says that is not recorded: tests/run/unseen.sh.)
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
: "${top_builddir:?}"
probe=$(readlink -f "$top_builddir/.libs/libsyncguard_probe.so")
dir=$(mktemp -d /tmp/environments-test-XXXXXX) || exit 99
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"

# Built for a library of one rank, which does nothing that could fail.
flags=(-std=gnu11 -D_GNU_SOURCE -O2 "-I$top_srcdir")
compile() { ${CC:-cc} "${flags[@]}" "$@" 2>"$dir/cc" || bail_out "$* cannot be built: $(head -n 1 "$dir/cc")"; }
compile -fPIC -shared -Wl,-soname,libmpi_abi.so.0 -o "$dir/libmpi_abi.so.0" "$top_srcdir/tests/probe/lone.c"
compile -fPIC -shared -o "$dir/allocator.so" "$top_srcdir/tests/probe/allocator.c" -ldl
compile -o "$dir/odd" "$top_srcdir/tests/probe/odd.c" "$dir/libmpi_abi.so.0" -Wl,-rpath,"$dir" -ldl

# run FILE COMMAND...: its output in FILE.out, FILE.err, its status in FILE.status
run() {
    local file=$1
    shift
    "$@" >"$file.out" 2>"$file.err" </dev/null
    echo $? >"$file.status"
}
result() { echo "$(cat "$1.status") $(cat "$1.out" "$1.err")"; }
events() { "$top_builddir/sgring" --json "$step" 2>/dev/null | grep -o '"events":[0-9]*' | tr -dc '0-9'; }
note() { readlink "$step"/*.note; }

# odd WHERE EVENTS [PRELOADED] COMMAND...: without the probe and with it; PRELOADED is LD_PRELOAD, in which % is the probe. EVENTS: how many are
# recorded; empty where the probe cannot be.
odd() {
    local where=$1 recorded=$2 preloads=%
    shift 2
    case $1 in *%*) preloads=$1 && shift ;; esac
    step=$dir/step
    rm -rf "$step" && mkdir -m 755 "$step"
    bare=${preloads//%/} bare=${bare#:} bare=${bare%:}
    run "$dir/bare" env ${bare:+LD_PRELOAD="$bare"} "$@"
    run "$dir/guarded" env LD_PRELOAD="${preloads//%/$probe}" SYNCGUARD_DIR="$step" SYNCGUARD_PRELOADED="$probe" "$@"
    is "$(result "$dir/guarded")" "$(result "$dir/bare")" "$where: the program prints and returns what it does without the probe"
    is "$(cat "$dir/bare.status")" 3 "$where: which is what it must" || show "$dir/bare.out" "$dir/bare.err"
    is "$(events)" "$recorded" "$where: ${recorded:-no} calls are recorded"
}
program=$dir/odd

odd "nothing odd" 100 "$program"
odd "LD_BIND_NOW" 100 env LD_BIND_NOW=1 "$program"
odd "another library preloaded before the probe" 100 "$dir/allocator.so:%" "$program"
odd "another library preloaded behind the probe" 100 "%:$dir/allocator.so" "$program"
odd "LD_PRELOAD emptied by a wrapper" "" sh -c "LD_PRELOAD= $program; exit \$?"
odd "env -i" "" env -i "$program"
odd "its working directory removed" 100 sh -c "mkdir $dir/gone && cd $dir/gone && rmdir $dir/gone && exec $program"
odd "standard input, output and error closed" 100 sh -c "exec $program <&- >&- 2>&-"
odd "files closed below the probe" 100 "$program" close
odd "no more files may be opened" "" "$program" files
odd "no more memory" "" "$program" memory
like "$(note)" "^unguarded: a ring is more than the memory .*ulimit -v" "no more memory: a note for the job says why nothing is recorded"
odd "files of 64 KiB at most" "" "$program" size
like "$(note)" "^unguarded: a ring is larger than the files .*ulimit -f" "files of 64 KiB at most: a note for the job says why nothing is recorded"
odd "no memory may be locked" 100 "$program" locked-memory
odd "a process that cannot be dumped" 100 "$program" hidden
odd "MPI in a namespace of the loader's own" "" "$program" namespace
odd "programs started by vfork and posix_spawn" 100 "$program" spawn
odd "killed by seccomp for any call but write and exit" 100 "$program" seccomp
odd "SIGXFSZ, SIGSYS and SIGPIPE ignored" 100 sh -c "trap '' XFSZ SYS PIPE; exec $program"
odd "a read-only directory of the step" "$([ "$(id -u)" = 0 ] && echo 100)" sh -c "chmod 500 $dir/step; exec $program"

# ---- what needs root ----

# odd_root WHERE EVENTS COMMAND...
odd_root() {
    if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
        odd "$@"
    else
        skip "$1: the program prints and returns what it does without the probe" "it needs root, and namespaces"
    fi
}
odd_root "the step's directory mounted read-only" "" unshare -m sh -c "mount --bind $dir/step $dir/step && mount -o remount,bind,ro $dir/step && exec $program"
odd_root "the step's directory mounted noexec" 100 unshare -m sh -c "mount --bind $dir/step $dir/step && mount -o remount,bind,noexec $dir/step && exec $program"
odd_root "no room in the step's directory" "" unshare -m sh -c "mount -t tmpfs -o size=64k none $dir/step && exec $program"
odd_root "no page left in the step's directory" "" unshare -m sh -c "mount -t tmpfs -o size=64k none $dir/step && dd if=/dev/zero of=$dir/step/full bs=4k 2>$dir/full
    $program; status=\$?; readlink $dir/step/*.note >$dir/told; exit \$status"
if [ -e "$dir/told" ]; then
    like "$(cat "$dir/full")" "No space left" "no page left in the step's directory: it is full"
    is "$(cat "$dir/told")" "unguarded: there is no room for a ring in shared memory" "no page left in the step's directory: a note for the job says why nothing is recorded"
fi
odd_root "another file system over the step's directory" "" unshare -m sh -c "mount -t tmpfs none $dir/step && exec $program"

cp "$program" "$dir/setuid" && chmod 4755 "$dir/setuid"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    odd "a set-uid program" "" setpriv --reuid 65534 --clear-groups "$dir/setuid"
else
    skip "a set-uid program: the program prints and returns what it does without the probe" "it needs root, and setpriv"
fi

# ---- where the loader speaks ----

# loader_says WHERE PATTERN COMMAND...: of each program it says that, and all else is the same
loader_says() {
    local where=$1 pattern=$2
    shift 2
    run "$dir/bare" "$@"
    run "$dir/guarded" env LD_PRELOAD="$probe" SYNCGUARD_DIR="$dir/step" "$@"
    is "$(cat "$dir/guarded.status" "$dir/guarded.out")" "$(cat "$dir/bare.status" "$dir/bare.out")" "$where: the program prints and returns what it does without the probe"
    is "$(grep -vE "$pattern" "$dir/guarded.err")" "$(cat "$dir/bare.err")" "$where: the loader says that it left the probe out, and nothing else is said"
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    # A container that a program enters by itself: guides and manual say so.
    mkdir "$dir/empty"
    loader_says "the probe's file hidden" 'libsyncguard_probe.so.*cannot be preloaded .*: ignored' unshare -m sh -c "mount --bind $dir/empty ${probe%/*} && exec $program"
    mkdir -p "$dir/root/$dir" && cp "$program" "$dir/libmpi_abi.so.0" "$dir/root/$dir/"
    ldd "$program" | grep -o '/[^ ]*' | grep -v "^$dir" | while read -r library; do mkdir -p "$dir/root/${library%/*}" && cp "$library" "$dir/root/$library"; done
    loader_says "chroot into a small root" 'libsyncguard_probe.so.*cannot be preloaded .*: ignored' chroot "$dir/root" "$program"
else
    skip "the probe's file hidden: the program prints and returns what it does without the probe" "it needs root, and namespaces"
fi
if ${CC:-cc} -m32 -o "$dir/odd32" -x c - <<<'int main(void) { return 3; }' 2>/dev/null; then
    loader_says "a program of 32 bits" 'libsyncguard_probe.so.*cannot be preloaded .*: ignored' "$dir/odd32"
else
    skip "a program of 32 bits: the program prints and returns what it does without the probe" "the compiler makes none"
fi
if ${CC:-cc} -static -o "$dir/static" -x c - <<<'int main(void) { return 3; }' 2>/dev/null; then
    odd "a static program" "" "$dir/static"
else
    skip "a static program: the program prints and returns what it does without the probe" "the compiler makes none"
fi
done_testing
