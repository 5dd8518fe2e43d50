#!/bin/bash
# Libraries that only one module of a program sees: each of two copies of UCX gets its own workers, and SCR is found. One that all see is
# everybody's.
. "$top_srcdir/tests/tap.sh" || exit 99

work=$top_builddir/tests/probe
probe=$top_builddir/.libs/libsyncguard_probe.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# What the program prints with these arguments, without and with the probe.
same() { # NAME WANT ARGUMENTS
    "$work/copies" "${@:3}" >"$dir/bare"
    is "$? $(tr '\n' ' ' <"$dir/bare")" "0 $2 " "$1: what the program prints without the probe"
    LD_PRELOAD="$probe" "$work/copies" "${@:3}" >"$dir/out" 2>"$dir/err"
    is "$? $(cat "$dir/out" "$dir/err")" "0 $(cat "$dir/bare")" "$1: the same with it, and nothing else"
}

one=$work/copy_module1.so two=$work/copy_module2.so
same "two copies" "101 201 102 202 0 0" "$one" "$two"
same "in the other order" "201 101 202 102 0 0" "$two" "$one"
same "a copy for all" "201 201 202 202 0 0" "$one" "$two" "$work/libcopy2.so"
done_testing
