#!/bin/bash
# sgctl step on recorded traces: text, JSON and SVG agree, and the drawing is XML that a viewer can read.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
unset SYNCGUARD_CONF
cd "$dir" || exit 1

# Two replicas of a pipeline of three stages; the second stage of the first replica is slow.  With "sums": all meet once a step.
python3 - <<'PY'
import json

def header(f, ranks, version):
    f.write(json.dumps({"format": "syncguard-trace", "version": version, "job": "7.0 <&>\"",
                        "ranks": [{"rank": r, "node": "n<%d>&\"" % (r // 2)} for r in range(ranks)]}) + "\n")

def put(f, r, c, s, o, b, t0, t1, peer=None):
    x = {"r": r, "c": c, "s": s, "o": o, "b": b}
    if peer is not None:
        x.update(p=peer, g=0)
    x.update(t0=int((5 + t0) * 1e9), t1=int((5 + t1) * 1e9))
    return (x["t1"], json.dumps(x))

with open("pipeline.jsonl", "w") as f:
    header(f, 6, 2)
    now, lines, number = 0.0, [], 0
    for step in range(60):
        free, last = [now] * 6, now
        for piece in range(4):
            for replica in range(2):
                there = now
                for stage in range(3):
                    r = stage * 2 + replica
                    if stage:
                        got = max(free[r] + 1e-6, there + 2e-4)
                        lines.append(put(f, r, "p2p", number, "recv", 1000, free[r], got, r - 2))
                        free[r] = got
                    free[r] += 0.020 if r == 2 else 0.010
                    there = free[r]
                    if stage < 2:
                        lines.append(put(f, r, "p2p", number, "send", 1000, free[r], free[r] + 1e-5, r + 2))
                        free[r] += 1e-5
            number += 1
        now = max(free) + 0.001
        for r in range(6):
            lines.append(put(f, r, "world", step, "allreduce", 8, free[r], now))
    for line in sorted(lines):
        f.write(line[1] + "\n")

with open("sums.jsonl", "w") as f:
    header(f, 4, 1)
    now = 0.0
    for step in range(100):
        last = now + 0.015
        for r in range(4):
            f.write(put(f, r, "world", step, "allreduce", 8, now + (0.015 if r == 3 else 0.010), last + 1e-4)[1] + "\n")
        now = last + 1e-4
PY

text=$(sgctl step pipeline.jsonl)
is $? 0 "sgctl step TRACE: exit status"
like "$(sed -n 2,3p <<<"$text" | tr '\n' ' ')" 'of it of r2 on n<1>&"' "the text names the slow rank and its node"
sgctl step --json pipeline.jsonl >json
is "$(python3 -c '
import json
p = json.load(open("json"))["picture"]
r2 = [r for r in p["rows"] if r["rank"] == 2][0]
print(p["basis"], len(p["rows"]), p["messages_total"], round(r2["work_s"], 3), round(r2["path_s"], 3), round(r2["peers_s"], 3))
')" "calls 6 16 0.08 0.08 0.04" "JSON: all ranks, all messages, and that the slow rank's work is all critical"
is "$(python3 -c '
import json
p = json.load(open("json"))["picture"]
path = p["path"]
print(abs(sum(x["end_s"] - x["begin_s"] for x in path) - p["span_s"]) < 1e-6,
      all(abs(a["end_s"] - b["begin_s"]) < 1e-9 for a, b in zip(path, path[1:])))
')" "True True" "JSON: the critical path leads from the step's beginning to its end without a gap"

sgctl step pipeline.jsonl -o step.svg
is $? 0 "sgctl step TRACE -o FILE: exit status"
cat >check.py <<'PY'
import sys, xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
name = "{http://www.w3.org/2000/svg}"
text = "".join(svg.itertext())
print(svg.tag == name + "svg", not svg.findall(".//" + name + "script"), 'n<1>&"' in text, '7.0 <&>"' in text,
      len([e for e in svg.iter(name + "rect") if e.get("class") == "work" and e.find(name + "title") is not None]) > 6,
      len([e for e in svg.iter(name + "path") if e.get("class") == "path"]) == 2,
      not any(k.startswith("on") or k.endswith("href") for e in svg.iter() for k in e.keys()))
PY
is "$(python3 check.py step.svg)" "True True True True True True True" \
    "the drawing is well-formed SVG with escaped names, tooltips and the path, without scripts and links"
sgctl step pipeline.jsonl -o step.svg 2>err
is "$? $(cat err)" "1 sgctl: step.svg exists: name another file, or remove it first" "an existing file is not overwritten"
sgctl step pipeline.jsonl -o - | cmp -s - step.svg
is $? 0 "-o - prints the same drawing"
sgctl step - <pipeline.jsonl >other
is "$(cat other)" "$text" "TRACE -: standard input is read"

like "$(sgctl step sums.jsonl)" 'calls are not known one by one' "where calls are not known one by one, the text says so"
sgctl step sums.jsonl -o sums.svg && python3 -c 'import sys, xml.dom.minidom as d; d.parse("sums.svg")'
is $? 0 "a step of sums is drawn, too"

head -n 1 pipeline.jsonl >empty.jsonl
is "$(sgctl step empty.jsonl)" "No step is known yet." "a trace without a step: the text says so"
sgctl step empty.jsonl -o empty.svg 2>err
is "$? $(cat err) $(ls empty.svg 2>/dev/null)" "1 sgctl: no step is known yet " "a trace without a step: no file is left"
sgctl step pipeline.jsonl --json -o x.svg 2>/dev/null
is $? 2 "--json and --output together are wrong usage"
sgctl step no/such/file 2>/dev/null
is $? 1 "a file that does not exist fails"
timeout 120 sgctl --controller 127.0.0.1:1 --timeout 2 step 12 2>/dev/null
is $? 1 "a job without a controller fails"
done_testing
