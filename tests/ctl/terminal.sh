#!/bin/bash
# sgctl on a terminal: colours, unless NO_COLOR says otherwise, and long text through a pager.  Neither where the output goes elsewhere.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset SYNCGUARD_CONF PAGER LESS NO_COLOR
export TERM=xterm

# A trace of 4 ranks that meet once a step.
python3 - >"$dir/trace.jsonl" <<'PY'
import json
print(json.dumps({"format": "syncguard-trace", "version": 1, "job": "7.0", "ranks": [{"rank": r, "node": "n%d" % r} for r in range(4)]}))
for step in range(60):
    for r in range(4):
        begin, end = step * 20000000 + 10000000 + r * 1000, step * 20000000 + 11000000
        print(json.dumps({"r": r, "c": "world", "s": step, "o": "allreduce", "b": 8, "t0": begin, "t1": end}))
PY
# terminal ROWS COMMAND...: what the command prints on a terminal of that height; its exit status
cat >"$dir/terminal.py" <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[1]), 250, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
try:
    while True:
        piece = os.read(fd, 65536)
        if not piece:
            break
        os.write(1, piece.replace(b"\r", b""))
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
terminal() { timeout 300 python3 "$dir/terminal.py" "$@"; }
analyze=("$top_builddir/sgctl" analyze "$dir/trace.jsonl")

"${analyze[@]}" >"$dir/plain"
is $? 0 "sgctl analyze reads the trace"
lines=$(wc -l <"$dir/plain")
is "$([ "$lines" -gt 10 ] && echo long)" long "the report has more than 10 lines"
is "$(grep -c $'\033' "$dir/plain")" 0 "what does not go to a terminal has no colours"
PAGER='sed s/^/P:/' "${analyze[@]}" | cmp -s - "$dir/plain"
is $? 0 "nor does it go through a pager"

terminal 200 "${analyze[@]}" >"$dir/out"
is $? 0 "on a terminal the exit status is the same"
is "$(grep -c $'\033\\[1m' "$dir/out" | awk '{ print ($1 > 0) }')" 1 "titles stand out"
is "$(sed 's/\x1b\[[0-9;]*m//g' "$dir/out")" "$(cat "$dir/plain")" "but for the colours the text is the same"
is "$(NO_COLOR=1 terminal 200 "${analyze[@]}" | grep -c $'\033')" 0 "with NO_COLOR there are none"
is "$(NO_COLOR='' terminal 200 "${analyze[@]}" | grep -c $'\033' | awk '{ print ($1 > 0) }')" 1 "NO_COLOR that is empty says nothing"
is "$(TERM=dumb terminal 200 "${analyze[@]}" | grep -c $'\033')" 0 "nor are there any on a dumb terminal"

is "$(PAGER='sed s/^/P:/' terminal 5 "${analyze[@]}" | grep -c ^P:)" "$lines" "what is longer than the terminal goes through PAGER"
is "$(PAGER='sed s/^/P:/' terminal 200 "${analyze[@]}" | grep -c ^P:)" 0 "what fits does not"
is "$(PAGER="cat" terminal 5 "${analyze[@]}" | wc -l)" "$lines" "PAGER=cat: no pager"
is "$(PAGER='' terminal 5 "${analyze[@]}" | wc -l)" "$lines" "PAGER that is empty: no pager"
is "$(PAGER='printenv LESS; cat >/dev/null' terminal 5 "${analyze[@]}")" FRX "less gets FRX"
is "$(LESS=M PAGER='printenv LESS; cat >/dev/null' terminal 5 "${analyze[@]}")" M "unless LESS is set"
is "$(PAGER=/no/such/pager terminal 5 "${analyze[@]}" 2>/dev/null | grep -c '^ *Step time')" 1 "without the pager the text is printed"
PAGER='head -n 1' terminal 5 "${analyze[@]}" >"$dir/out"
is "$? $(wc -l <"$dir/out")" "0 1" "a pager that ends early is no error"
is "$(PAGER='sed s/^/P:/' terminal 5 "${analyze[@]}" --json | grep -c ^P:)" 0 "JSON goes through no pager"

# What a trace calls its job and its nodes reaches a terminal without its control characters, in sentences, figures and tables.
sed '1s/"job": "7.0"/"job": "x\\u001b[31mRED"/; 1s/"node": "n/"node": "n\\u001b[7m/g' "$dir/trace.jsonl" >"$dir/hostile.jsonl"
"$top_builddir/sgctl" analyze "$dir/hostile.jsonl" >"$dir/out"
is "$(grep -c $'\033' "$dir/out")" 0 "names with control characters: none is printed"
is "$(grep -c '^Trace of x?\[31mRED' "$dir/out")" 1 "each stands as a question mark"
is "$(NO_COLOR=1 terminal 200 "$top_builddir/sgctl" analyze "$dir/hostile.jsonl" | grep -c $'\033')" 0 "nor is one on a terminal"
done_testing
