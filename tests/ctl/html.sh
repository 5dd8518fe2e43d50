#!/bin/bash
# A trace as a page for a browser: valid, whole by itself, nothing in it but what the trace says.  tests/ctl/live.sh has those of jobs.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
unset SYNCGUARD_CONF
cd "$dir" || exit 1

# 8 ranks of which r3 becomes slow; names as a user may choose them.
python3 - >slow.jsonl <<'PY'
import json, random
random.seed(3)
print(json.dumps({"format": "syncguard-trace", "version": 1, "job": "7.0 <script>alert(1)</script>",
                  "ranks": [{"rank": r, "node": "n<%d>&\"'" % (r // 4)} for r in range(8)]}))
now = 0.0
for step in range(400):
    begin = [now + 0.05 * random.gauss(1, 0.01) * (1.3 if r == 3 and step >= 200 else 1) for r in range(8)]
    now = max(begin) + 0.001
    for r in range(8):
        print(json.dumps({"r": r, "c": "world", "s": step, "o": "allreduce", "b": 8, "t0": int(begin[r] * 1e9), "t1": int(now * 1e9)}))
PY
sgctl analyze slow.jsonl --html -o page.html
is "$? $(ls page.html)" "0 page.html" "sgctl analyze --html -o FILE writes a page"
sentence=$(sgctl analyze --json slow.jsonl | python3 -c 'import json, sys; print(json.load(sys.stdin)["sentence"])')
price=$(sgctl analyze slow.jsonl | grep -oE '^  [0-9.]+x' | head -1 | tr -d ' ')
is "$("$top_srcdir/tests/ctl/page.py" page.html "$sentence" "$price" 'Trace of 7.0 <script>alert(1)</script>' 'Step time' 'The newest step, drawn' \
    'Mean step time of each')" "" "the page is valid HTML with SVG and no scripts, its names are text, and it has the sentence, the price and the charts"
is "$(grep -c 'class="line"' page.html)" 3 "it has lines of step time, waiting and skew"
is "$(grep -c 'class="step"' page.html)" 1 "and one step drawn"
is "$(grep -oE '>n&lt;[01]&gt;&amp;&quot;.{1,3} r[0-7]<' page.html | sort -u | wc -l)" 8 "the map has all ranks with their nodes"
sgctl analyze slow.jsonl --html | cmp -s - page.html
is $? 0 "without -o the page goes to standard output"
sgctl analyze slow.jsonl --html -o - | cmp -s - page.html
is $? 0 "as with -o -"
sgctl analyze slow.jsonl --html -o page.html 2>err
is "$? $(cat err)" "1 sgctl: page.html exists: name another file, or remove it first" "an existing file is not overwritten"
if command -v script >/dev/null; then
    like "$(script -qec "sgctl analyze slow.jsonl --html" /dev/null </dev/null 2>&1; echo)" '^sgctl: --html writes a page for a browser: name its file with --output' \
        "to a terminal no page is written"
else
    skip "a terminal" "script is not installed"
fi
sgctl analyze --fail --html -o other.html slow.jsonl
is "$? $(ls other.html)" "1 other.html" "--fail says by the exit status what it says without --html"

head -n 1 slow.jsonl >empty.jsonl
sgctl analyze empty.jsonl --html -o empty.html
is "$? $("$top_srcdir/tests/ctl/page.py" empty.html 'Not measured: no step time is known.' 'Not measured: no step is known.')" "0 " \
    "a trace of which nothing is known gives a page that says so"
sgctl analyze no/such/file --html -o none.html 2>err
is "$? $(ls none.html 2>/dev/null)" "1 " "where there is no trace no page is left"
sgctl analyze slow.jsonl -o page 2>err
is "$? $(head -n 1 err)" "2 sgctl: --output belongs to --html" "a report in words is not written to a file"
sgctl analyze slow.jsonl --html --json 2>err
is $? 2 "--html and --json together are wrong usage"
done_testing
