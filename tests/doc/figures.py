#!/usr/bin/env python3
"""figures - figures in documents come from files that scripts wrote: the tables of costs of README and doc/costs.md from doc/bench.json, the table of
doc/placement-table.md from doc/placement.json, those of doc/pytorch.md from doc/gloo.json, that of doc/nccl-table.md from doc/nccl.json, that of doc/forms-table.md
from doc/forms.json, that of releases in doc/administrators-guide.md from doc/matrix.json, sentences from the tables in doc/, sgtop's screens in doc/screens.md from tests/tui/expected.

    tests/doc/figures.py [TOP]                  TAP: are the tables what this script makes of these files, do sentences match the tables that they quote?
    tests/doc/figures.py --write [FILE] [TOP]   write the tables; with FILE, a bench.json, copy that to doc/bench.json first
    tests/doc/figures.py --placement FILE       print the table of the runs in FILE, which tests/cluster/placement-table wrote
    tests/doc/figures.py --forms FILE           the same of what tests/cluster/forms-table wrote

Limits are those of tests/bench/targets.py. A figure that misses its limit is marked; one that was not measured is shown as "not measured".
"""
import datetime, json, os, re, shutil, statistics, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "bench"))
from targets import AT_LEAST, AT_MOST, look_up, missed  # noqa: E402

BEGIN = "<!-- Written by tests/doc/figures.py from doc/bench.json: do not edit. -->\n"
PLACEMENT_BEGIN = "<!-- Written by tests/doc/figures.py from doc/placement.json: do not edit. -->\n"
GLOO_BEGIN = "<!-- Written by tests/doc/figures.py from doc/gloo.json: do not edit. -->\n"
NCCL_BEGIN = "<!-- Written by tests/doc/figures.py from doc/nccl.json: do not edit. -->\n"
SCREENS_BEGIN = "<!-- Written by tests/doc/figures.py from tests/tui/expected: do not edit. -->\n"
FORMS_BEGIN = "<!-- Written by tests/doc/figures.py from doc/forms.json: do not edit. -->\n"
MATRIX_BEGIN = "<!-- Written by tests/doc/figures.py from doc/matrix.json: do not edit. -->\n"
END = "\n<!-- End of what tests/doc/figures.py writes. -->\n"

# {PATH UNIT}: in the first two columns the figure of bench.json, in the third its limit.
UNITS = {"": (1, 2, ""), "4": (1, 4, ""), "times": (1, 2, " times"), "ns": (1, 0, " ns"), "ms": (1e3, 1, " ms"), "s": (1, 1, " s"), "%": (100, 1, " %"),
         "KiB": (2 ** -10, 1, " KiB"), "MiB": (2 ** -20, 1, " MiB"),
         "events/s": (1e-6, 1, " million events/s"), "records/s": (1e-6, 1, " million records/s")}
MEMORY = ("memory: a rank's ring, a node's agent, the controller with 1,000 ranks",
          "{memory.ring_bytes_per_rank MiB}, {memory.agent_bytes MiB}, {memory.controller_bytes_1000_ranks MiB}",
          "{memory.ring_bytes_per_rank MiB}, {memory.agent_bytes MiB}, {memory.controller_bytes_1000_ranks MiB}")
ROWS = (
    ("one recorded collective beyond the library's own call, median and 99.9 % (worst of two libraries and two operations)",
     "{hook_ns.p50 ns}, {hook_ns.p999 ns}", "{hook_ns.p50 ns}, {hook_ns.p999 ns}"),
    ("the same over two reads of the clock, {hook_ns.clocks ns} here (mpiP's published method: {mpip_ratio times})",
     "{hook_ratio times}", "{hook_ratio times}"),
    ("the same of a call that passes messages, over the same two reads (worst of two libraries and seven patterns of nonblocking, blocking and "
     "persistent calls, each the mean of its calls; {hook_messages.above count} of {hook_messages.count count} are above the limit)",
     "{hook_message_ratio times}", "{hook_message_ratio times}"),
    ("recording over not recording, within one run: a step of 4 ms of work and 4 all-reduces of 32 KiB, 2 ranks, the agents and the controller "
     "on the same cores ({step.pairs count} pairs of blocks)",
     "{step.ratio 4} (95 %: {step.low 4} to {step.high 4})", "{step.high 4} (upper end)"),
    ("all-reduces of 8 bytes in a tight loop, pacing allowed over the probe alone (Open MPI, MPICH)",
     "{pacing.openmpi }, {pacing.mpich }", "{pacing.small_ratio }"),
    MEMORY,
    ("a controller that starts while 1,024 agents with 16,384 ranks wait for it: until all are connected, and its processor time from then on",
     "{cold.connected_s s}, {cold.core_ratio %} of a core", "{cold.connected_s s}, {cold.core_ratio %}"),
    ("a pipeline of 16,384 ranks that passes messages, five steps a second: the controller's processor time; `sgctl job --json`, first byte and memory; "
     "`sgtop` until it shows the job",
     "{scale.core_ratio %} of a core; {scale.json_first_byte_s ms}, {scale.json_peak_bytes MiB}; {scale.first_job_s ms}",
     "{scale.core_ratio %}; {scale.json_first_byte_s ms}, {scale.json_peak_bytes MiB}; {scale.first_job_s ms}"),
    ("an ordinary user floods the controller from five hosts in nine ways at once ({siege.seconds count} s): steps recorded of another user's job of "
     "four nodes (of {siege.steps_expected count}), 95 % of the answers to `sgctl status`, the controller's memory at its peak (and "
     "{siege.resident_bytes MiB} after it)",
     "{siege.steps_ratio %}, {siege.status_p95_s ms}, {siege.peak_bytes MiB}", "at least {siege.steps_ratio %}, {siege.status_p95_s ms}, {siege.peak_bytes MiB}"),
    ("`srun -N8 true`, guarded minus not, the controller up and down", "{launch_extra_s.up ms}, {launch_extra_s.down ms}", "{launch_extra_s.up ms}, {launch_extra_s.down ms}"),
    ("from a node being slowed by 20 % to its name, a rank a core (median of {time_to_name.runs count} runs; {time_to_name.named count} were named "
     "within 15 s)",
     "{time_to_name.seconds s}", "{time_to_name.seconds s}, or 16 collectives where that is longer"),
    ("`sgtop` on 1,000 ranks: first paint, processor time", "{sgtop.first_paint_s ms}, {sgtop.cpu_ratio %}", "{sgtop.first_paint_s ms}, {sgtop.cpu_ratio %}"),
    ("`sgrun` on a terminal, from its start to the first screen, median and slowest of 5", "{sgrun.first_screen_s ms}, {sgrun.slowest_s ms}", "{sgrun.first_screen_s ms}"),
    ("judging alone, events of 64 ranks in memory, one core (qsort orders the same events by time at {engine.qsort_events_per_s events/s}); "
     "memory a rank with 1,024 ranks", "{engine.events_per_s events/s}, {engine.bytes_per_rank_1024 KiB}",
     "at least {engine.events_per_s events/s}, {engine.bytes_per_rank_1024 KiB}"),
    ("`sgctl analyze` on a trace of a million records (Python's json module parses the same lines at {analyze.python_json_records_per_s records/s}, and "
     "judges nothing)", "{analyze.records_per_s records/s}, {analyze.peak_bytes MiB}", "at least {analyze.records_per_s records/s}, {analyze.peak_bytes MiB}"),
)
# The few of them in README.
FIRST = (
    ("one recorded collective beyond the library's own call, median; over two reads of the clock (mpiP's published method: {mpip_ratio times})",
     "{hook_ns.p50 ns}; {hook_ratio times}", "{hook_ns.p50 ns}; {hook_ratio times}"),
    ("a step of 4 ms of work and 4 all-reduces, recorded over not recorded within one run", "{step.ratio 4} (95 %: {step.low 4} to {step.high 4})",
     "{step.high 4} (upper end)"),
    MEMORY,
    ("the start of a step of 8 ranks, guarded minus not", "{launch_extra_s.up ms}", "{launch_extra_s.up ms}"),
    ("from a node being slowed by 20 % to its name; `sgrun`'s first screen", "{time_to_name.seconds s}; {sgrun.first_screen_s ms}",
     "{time_to_name.seconds s}; {sgrun.first_screen_s ms}"),
)
FIELD = re.compile(r"\{([\w.]+) ([^}]*)\}")
# Sentences of doc/overview.md, and the cells of doc/pace-table.md that they quote: {CASE/LIBRARY/COLUMN/DIGITS}.
QUOTES = (
    "On two cores, 8 spinning ranks were {8 ranks on 2 cores, one slow/Open MPI/off/1} (Open MPI) and {8 ranks on 2 cores, one slow/MPICH/off/1} (MPICH) "
    "times as fast, 4 ranks {4 ranks on 2 cores, one slow/Open MPI/off/1} and {4 ranks on 2 cores, one slow/MPICH/off/1} times, and a job beside a data "
    "loader {2 ranks on 2 cores, a data loader beside the early one/Open MPI/off/2} and "
    "{2 ranks on 2 cores, a data loader beside the early one/MPICH/off/2} times",
    "two memory-bound rows, {2 ranks on 2 cores, bound by memory/Open MPI/off/3} ({2 ranks on 2 cores, bound by memory/Open MPI/low/2} to "
    "{2 ranks on 2 cores, bound by memory/Open MPI/high/2}) and {2 ranks on 2 cores, bound by memory/MPICH/off/3} "
    "({2 ranks on 2 cores, bound by memory/MPICH/low/2} to {2 ranks on 2 cores, bound by memory/MPICH/high/2}),",
)
NUMBERS = dict(enumerate("no one two three four five six seven eight nine ten eleven twelve thirteen".split()))


# ---- the table of costs ----

def figure(result, path, unit):
    value = look_up(result, path)
    if value is None:
        return "not measured"
    if unit == "count":
        return str(value)
    factor, digits, suffix = UNITS[unit]
    return f"{value * factor:.{digits}f}{suffix}"


def limit(path, unit):
    factor, _, suffix = UNITS[unit]
    return f"{(AT_MOST[path] if path in AT_MOST else AT_LEAST[path]) * factor:g}{suffix}"


def date(text):
    d = datetime.date.fromisoformat(text)
    return f"{d.day} {d:%B %Y}"


def ends(values):
    return " to ".join(values[:1] + values[1:][-1:])


def costs(result, those):
    lines = ["| | measured | limit we hold ourselves to |", "|---|---|---|"]
    for what, measured, limits in those:
        if all(look_up(result, path) is None for path, _ in FIELD.findall(measured)):
            what, measured = re.sub(r" \([^()]*\{[^()]*\)|, \{[^}]*\} here", "", what), "not measured"
        over = [limit(path, unit) for path, unit in FIELD.findall(limits) if missed(result, path)]
        mark = f"; **misses {', '.join(over)}**" if over else ""
        what, measured = (FIELD.sub(lambda m: figure(result, m[1], m[2]), text) for text in (what, measured))
        lines.append(f"| {what} | {measured}{mark} | {FIELD.sub(lambda m: limit(m[1], m[2]), limits)} |")
    return "\n".join(lines) + "\n"


def table(result):
    """What stands between the two marks in doc/costs.md."""
    machine, parts = result["machine"], result["parts"].values()
    days, commits = (sorted({p[key] or "unknown" for p in parts}) for key in ("date", "commit"))
    loads = sorted({f"{p['load_before']:.1f}" for p in parts}, key=float)
    lines = [
        f"Measured on a machine with {machine['cores']} cores ({machine['model'] or 'unknown processor'}), {ends([date(d) for d in days])}, commit "
        f"{', '.join(commits)}.", f"Its load average before each part was {ends(loads)}: single figures are only good where nothing else runs.", ""]
    return "\n".join(lines) + "\n" + costs(result, ROWS)


def split(document, begin=BEGIN):
    """Before, between and after the marks."""
    before, rest = document.split(begin, 1)
    between, after = rest.split(END, 1)
    return before, between, after


# ---- the order of ranks ----

def spread(values, factor, digits, suffix):
    """The median, the lowest and the highest."""
    if not values:
        return "-"
    low, middle, high = (f"{factor * f(values):.{digits}f}" for f in (min, statistics.median, max))
    return f"{middle}{suffix} ({low} to {high})"


def placement(text):
    """The table of doc/placement-table.md. Ratios are of runs of one round, which were made one after the other."""
    names = {"openmpi": "Open MPI", "mpich": "MPICH"}
    runs = [json.loads(line) for line in text.splitlines()]
    lines = ["| switches | program | library | rounds | Slurm's order | placed | best order | placed / Slurm's speed | placed / best speed |", "|---|---|---|---|---|---|---|---|---|"]

    def kind(run):
        return -run.get("spines", 1), run["program"], run["library"]

    for spines, program, library in sorted({kind(r) for r in runs}, reverse=True):
        rounds = {}
        switches = "a tree" if spines == -1 else f"a fat tree of {-spines} spines"
        for r in runs:
            if kind(r) == (spines, program, library):
                rounds.setdefault(r["run"], {})[r["order"]] = r["step_s"]
        whole = [r for r in rounds.values() if all(r.get(order) for order in ("slurm", "placed", "best"))]
        times = [spread([r[order] for r in whole], 1e3, 1, " ms") for order in ("slurm", "placed", "best")]
        lines.append(f"| {switches} | {program} | {names[library]} | {len(whole)} of {len(rounds)} | {' | '.join(times)} | "
                     f"{spread([r['slurm'] / r['placed'] for r in whole], 1, 2, ' times')} | {spread([r['best'] / r['placed'] for r in whole], 100, 0, ' %')} |")
    loads = [float(r["load"]) for r in runs]
    rates = ", ".join(sorted({r["rate"] for r in runs}))
    lines += ["", f"Rate of a link: {rates}. Load average of the machine while the runs were made: {min(loads):.1f} to {max(loads):.1f}."]
    return "\n".join(lines) + "\n"


# ---- PyTorch over Gloo ----

# case of tests/cluster/gloo-table: (what was done, what is right)
GLOO_CASES = {
    "work": ("DistributedDataParallel, each rank in turn works 20 ms longer", "it is named first, alone"),
    "input": ("the same, it waits for its input", "it is named first, alone"),
    "stage": ("a pipeline over send and recv, each stage in turn works longer", "it is named first, alone, as slow or as having more work"),
    "lengths": ("a character model, lengths of sequences vary by 60 %", "uneven work, and nobody is named"),
    "stopped": ("each rank in turn is stopped (SIGSTOP) in a training", "it is named as what holds the job up"),
    "ddp": ("DistributedDataParallel, healthy", "nothing is said"),
    "accumulate": ("four batches a step, the last one synchronised, healthy", "nothing is said"),
    "average": ("all-reduces by hand, healthy", "nothing is said"),
    "zero": ("ZeroRedundancyOptimizer, healthy", "nothing is said"),
    "fsdp": ("FullyShardedDataParallel, healthy", "nothing is said"),
    "pipeline": ("a pipeline, healthy", "nothing is said"),
    "server": ("a parameter server, healthy", "nothing is said"),
}


def gloo_case(rows):
    ran = [r for r in rows if "failed" not in r]
    if not ran:
        return "0", rows[0]["failed"][0].replace("|", "/")
    notes = []
    for key, text in (("phase", "the input named as its cause in {}"), ("call", "the call named in {}")):
        if any(key in r for r in ran):
            notes.append(text.format(f"{sum(bool(r.get(key)) for r in ran)}"))
    named = [r["named_s"] for r in ran if r.get("named_s") is not None]
    if named:
        notes.append(f"after {statistics.median(named):.1f} s ({min(named):.1f} to {max(named):.1f})")
    if sum(r.get("missed") or 0 for r in ran):
        notes.append(f"{sum(r.get('missed') or 0 for r in ran)} collectives missed")
    if len(ran) < len(rows):
        notes.append(f"{len(rows) - len(ran)} more did not end well")
    return f"{sum(r['right'] for r in ran)} of {len(ran)}", "; ".join(notes)


def gloo(text):
    """The tables of doc/pytorch.md: one for each version of PyTorch."""
    lines, all_runs = [], [json.loads(line) for line in text.splitlines()]
    for torch in sorted({r["torch"] for r in all_runs}, key=lambda v: [int(x) for x in re.findall(r"\d+", v)]):
        runs = [r for r in all_runs if r["torch"] == torch]
        loads = [r["load"] for r in runs]
        lines += [f"### PyTorch {torch}", "", "| | right is | right | |", "|---|---|---|---|"]
        for name, (what, right) in GLOO_CASES.items():
            rows = [r for r in runs if r["case"] == name]
            if rows:
                lines.append(f"| {what} | {right} | {' | '.join(gloo_case(rows))} |")
        lines.append("")
        for r in runs:
            if r["case"] == "matched":
                lines.append(f"- {r['steps']} steps of four ranks: {r['rings']}; the loss with and without the probe is "
                             f"{'the same to the last bit' if r['same_loss'] else 'not the same'}.")
            if r["case"] == "cost":
                lines.append(f"- Recording over not recording, in blocks of one run, a step of {1e3 * r['step_s']:.1f} ms of which the model sleeps {r['work_ms']} ms, {r['pairs']} pairs: "
                             f"{r['ratio']:.4f} times (95 %: {r['low']:.4f} to {r['high']:.4f}).")
        lines += [f"- {ends([date(d) for d in sorted({r['date'] for r in runs})])}; load average before each run {min(loads):.1f} to {max(loads):.1f}.", ""]
    return "\n".join(lines)


# ---- NCCL on a GPU ----

# A case of tests/nccl/nccl-table is a training and, behind a "-", what was done to it from the middle on; does that cost a bit of each step?
NCCL_TRAININGS = {
    "ddp": "DistributedDataParallel", "tree": "the same, with all-reduces by trees", "fsdp": "fully_shard", "pipeline": "a pipeline over send and recv",
    "exchange": "exchanges with two others in one group", "groups": "two ways of tensor parallelism by two of data parallelism",
    "graph": "a step captured in a CUDA graph",
}
NCCL_DONE = {"": ("-", False), "slow": ("rank 2's GPU works 20 ms longer a step", True), "loader": ("rank 2 waits 20 ms a step for its input", True),
             "hang": ("rank 2 stays away once, for 8 s", False)}


def nccl_said(verdicts):
    if verdicts is None:
        return "not looked at"
    said = [(v["class"], ", ".join("rank " + c[1:] for c in v["culprits"]), f"{v['cost_s']:.2f} s") for v in verdicts]
    return "; ".join(f"{what}{' ' if whom else ''}{whom}, {cost}" for what, whom, cost in said) or "nothing"


def nccl(text):
    """The table of doc/nccl-table.md: a line for each guarded run."""
    runs = [json.loads(line) for line in text.splitlines()]
    on = sorted({(r["gpu"], r["torch"], r["nccl"]) for r in runs if "gpu" in r})
    lines = ["| training | from the middle on | a step before and after it | that cost | said | by the trace | recorded, lost, unplaced |", "|---|---|---|---|---|---|---|"]
    for training, what in NCCL_TRAININGS.items():
        for kind, (done, priced) in NCCL_DONE.items():
            for r in runs:
                if r.get("case") != training + "-" * bool(kind) + kind or not r["guarded"] or "before_s" not in r:
                    continue
                cost = f"{(r['after_s'] - r['before_s']) * (r['steps'] - r['middle']):.2f} s" if priced else "-"
                lines.append(f"| {what} | {done} | {1e3 * r['before_s']:.1f} ms, {1e3 * r['after_s']:.1f} ms | {cost} | {nccl_said(r['verdicts'])} | "
                             f"{nccl_said(r['recorded'])} | {r['events']}, {r['lost']}, {r['unplaced']} |")
                if r.get("timelines"):
                    lines.append(f"| its timelines by PyTorch's profiler, imported | | | | | {nccl_said(r['timelines'])} | |")
    lines += ["", "; ".join(f"{gpu}, PyTorch {torch}, NCCL {nccl}" for gpu, torch, nccl in on) + ". " + ends([date(d) for d in sorted({r["date"] for r in runs})]) + "."]
    return "\n".join(lines) + "\n"


# ---- forms of srun and sbatch ----

def forms_recorded(r):
    """Of a form's guarded run: all ranks that the controller knows, and what it says when it does not know all of those that ran."""
    guarded, ran = sorted(g for g, _ in r["recorded"]), sorted(r["ranks"])
    if guarded == ran and all(g == total for g, total in r["recorded"]):
        return f"{' + '.join(map(str, ran))} of {sum(ran)} ranks"
    said = re.sub(r"\b7\d{4}\b", "N", r["told"][0]).replace("|", "/") if r["told"] else "**neither recorded nor told**"
    return f"{sum(guarded)} of {sum(ran)} ranks, {'' if said.startswith('**') else 'told: '}{said}"


def forms(text):
    """The table of doc/forms-table.md, of each form's last run, and what many steps left behind."""
    lines_of, many = {}, None
    for r in map(json.loads, text.splitlines()):
        if "form" in r:
            lines_of[r["form"]] = r
        else:
            many = r
    lines = ["| form | output | exit status | recorded |", "|---|---|---|---|"]
    for r in lines_of.values():
        same = r["status"][0] == r["status"][1] and r["states"][0] == r["states"][1]
        status = f"{r['status'][0]}" if same else f"**{r['status'][0]}, guarded {r['status'][1]}**"
        lines.append(f"| {r['what']} | {'**differs**' if r['differs'] else 'the same'} | {status} | {forms_recorded(r)} |")
    loads = [r["load"] for r in lines_of.values()]
    lines += ["", f"{len(lines_of)} forms, Slurm {', '.join(sorted({r['slurm'] for r in lines_of.values()}))}, {ends([date(d) for d in sorted({r['date'] for r in lines_of.values()})])}; "
              f"load average after each form {min(loads):.1f} to {max(loads):.1f}."]
    if many:
        before, after_row, after = (f"{n / 2 ** 20:.1f} MiB" for n in many["resident_bytes"])
        left = f"{len(many['left'])} things, the first {many['left'][0]}" if many["left"] else "nothing"
        answered = f"answered in {1e3 * many['answer_s']:.0f} ms" if many["answers"] else "**did not answer**"
        lines += ["", f"Many steps of two ranks on two nodes: {many['steps']:,} in a row took {many['row_s']:.0f} s ({many['failed'][0]} failed), {many['at_once']} at once {many['at_once_s']:.0f} s "
                  f"({many['failed'][1]} failed). Left on the nodes after them of folders in /dev/shm, sockets, keepers and agents: {left}. `sgctl jobs --finished` {answered}. The controller's memory "
                  f"was {before} before, {after_row} after the row and {after} after all."]
    return "\n".join(lines) + "\n"


# ---- releases of Debian ----

RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian unstable"}
VERSIONS = {"slurm": "Slurm", "openmpi": "Open MPI", "mpich": "MPICH", "torch": "PyTorch", "gcc": "gcc"}
PARTS = {"build": "builds without a warning", "units": "unit tests", "cluster": "tests on a private Slurm", "demo": "`./demo` names its node"}


def matrix(text):
    """The table of releases in doc/administrators-guide.md: of each part the last run, and no column for a part that ran nowhere."""
    runs = [json.loads(line) for line in text.splitlines()]
    parts = {part: what for part, what in PARTS.items() if any(r[part] != "not run" for r in runs)}
    lines = ["| " + " | ".join(["release", *VERSIONS.values(), *parts.values()]) + " |", "|---" * (1 + len(VERSIONS) + len(parts)) + "|"]
    for release, name in RELEASES.items():
        own = [r for r in runs if r["release"] == release]
        if own:
            outcomes = [([r[part] for r in own if r[part] != "not run"] or ["-"])[-1] for part in parts]
            lines.append(f"| {name} | {' | '.join([own[-1][key] for key in VERSIONS] + outcomes)} |")
    commits = ", ".join(dict.fromkeys(r["commit"] for r in runs))
    lines += ["", f"{ends([date(d) for d in sorted({r['date'] for r in runs})])}, commit {commits}."]
    return "\n".join(lines) + "\n"


# ---- sentences ----

# (name in tests/tui/expected, heading, keys and what it answers)
SCREENS = (
    ("jobs", "Jobs", "`1`: which jobs lose most, and to whom?"),
    ("overview", "Overview", "`m` among the jobs: a hundred jobs at once."),
    ("sort", "Order", "`o`: by which column?"),
    ("job", "Job", "`Enter` on a job: who holds it back, what does that cost, what to do?"),
    ("hang", "Job that hangs", "`Enter`, too: who is missing, on which node, and what does its process do?"),
    ("evidence", "Evidence", "`v`: why does the verdict say so, and what is its likely cause?"),
    ("step", "Step", "`t`: what did each rank do in one step?"),
    ("path", "Critical path", "`c`: whom did the others wait for, and since when?"),
    ("scaling", "Scaling", "`x`: how fast would it be on more ranks, and what would limit it?"),
    ("ways", "Ways", "`w`: would it be faster run another way?"),
    ("policy", "Policy", "`p`: what was decided and done, and did it help?"),
    ("switches", "Switches", "`T`: is it the node, or the switch above it?"),
    ("confirm", "Confirmation", "`X`, `C`, `P`: what acts asks first."),
    ("nodes", "Nodes", "`3`: which node is to blame, here and in other jobs?"),
    ("help", "Help", "`?`: the keys and the columns of the screen below it."),
)


def screens(folder):
    """Each screen as the tests expect it, at the sizes of a small, a usual and a large terminal."""
    parts = []
    for name, heading, what in SCREENS:
        parts.append(f"## {heading}\n\n{what}\n")
        for size in ("80x24", "60x16", "120x40"):
            parts.append(f"{size}:\n\n```\n{read(folder, f'{name}-{size}').rstrip()}\n```\n")
    return "\n".join(parts)


def cells(text):
    """{(case, library): {off, low, high}} of doc/pace-table.md."""
    rows = [[c.strip() for c in line.strip("|\n ").split("|")] for line in text.split("\n") if line.startswith("|")]
    column = rows[0].index("off / paced (95 %)")
    found = {}
    for row in rows[2:]:
        m = re.fullmatch(r"([\d.]+)(?: \(([\d.]+)-([\d.]+)\))?", row[column])
        found[row[0], row[1]] = {"off": m[1], "low": m[2], "high": m[3]}
    return found


def quote(sentence, found):
    def cell(m):
        case, library, column, digits = m[1].rsplit("/", 3)
        return f"{float(found[case, library][column]):.{digits}f}"
    return re.sub(r"\{([^}]+)\}", cell, sentence)


def steady(found):
    """Of jobs bound by compute, a core a rank: the largest difference, and the widest interval."""
    rows = [r for (case, _), r in found.items() if case.startswith("2 ranks") and "memory" not in case and "loader" not in case]
    worst = max(abs(float(r["off"]) - 1) for r in rows)
    widest = max(rows, key=lambda r: float(r["high"]) - float(r["low"]))
    return worst, f"the widest 95 % interval is {float(widest['low']):.2f} to {float(widest['high']):.2f}"


def faults(text):
    """What documents say of doc/live-table.md: kinds of fault, and how often each was made."""
    rows = [[c.strip() for c in line.strip("|\n ").split("|")] for line in text.split("\n") if line.startswith("|")][2:]
    runs = {int(row[2].split(" of ")[1]) for row in rows}
    kinds = sum(not row[0].endswith("nothing") for row in rows)
    return f"{NUMBERS[kinds].capitalize()} kinds of fault were made {NUMBERS[runs.pop()]} times each on a real Slurm" if len(runs) == 1 else "varying runs"


# ---- the ways to call it ----

def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def written(top):
    """[(document, the mark before what this script writes there, what it writes)]"""
    result = json.loads(read(top, "doc", "bench.json"))
    return [("README.md", BEGIN, costs(result, FIRST)), ("doc/costs.md", BEGIN, table(result)),
            ("doc/placement-table.md", PLACEMENT_BEGIN, placement(read(top, "doc", "placement.json"))),
            ("doc/pytorch.md", GLOO_BEGIN, gloo(read(top, "doc", "gloo.json"))),
            ("doc/nccl-table.md", NCCL_BEGIN, nccl(read(top, "doc", "nccl.json"))),
            ("doc/forms-table.md", FORMS_BEGIN, forms(read(top, "doc", "forms.json"))),
            ("doc/administrators-guide.md", MATRIX_BEGIN, matrix(read(top, "doc", "matrix.json"))),
            ("doc/screens.md", SCREENS_BEGIN, screens(os.path.join(top, "tests", "tui", "expected")))]


def write(top, source):
    kept = os.path.join(top, "doc", "bench.json")
    if source:
        shutil.copyfile(source, kept)
    for path, begin, text in written(top):
        before, _, after = split(read(top, path), begin)
        with open(os.path.join(top, path), "w", encoding="utf-8") as f:
            f.write(before + begin + text + END + after)
    return 0


def check(top):
    result, found, tests = json.loads(read(top, "doc", "bench.json")), cells(read(top, "doc", "pace-table.md")), []
    for path, begin, text in written(top):
        wanted, got = text.split("\n"), split(read(top, path), begin)[1].split("\n")
        tests.append((wanted == got, f"what {path} has of measured figures is what their file gives (else: tests/doc/figures.py --write)",
                      [f"{sign} {line}" for sign, a, b in (("wanted", wanted, got), ("got", got, wanted)) for line in a if line not in b]))
    words, readme = (re.sub(r"\s+", " ", read(top, *path)) for path in (("doc", "overview.md"), ("README.md",)))
    for n, sentence in enumerate([quote(q, found) for q in QUOTES] + [steady(found)[1]], 1):
        tests.append((sentence in words, f"doc/overview.md quotes doc/pace-table.md as it is, sentence {n}", [f"wanted: {sentence}"]))
    sentence = faults(read(top, "doc", "live-table.md"))
    tests.append((sentence in words and sentence in readme, "README and doc/overview.md quote doc/live-table.md as it is", [f"wanted: {sentence}"]))
    said = re.search(r"compute-bound jobs took the same time within ([\d.]+) %", words)
    tests.append((said and 100 * steady(found)[0] <= float(said[1]) + 1e-9, "doc/overview.md: compute-bound jobs are within the difference that it states",
                  [f"wanted: {100 * steady(found)[0]:.2f} %"]))
    # That the test finds what it is for.
    rows = placement("\n".join(json.dumps({"run": run, "program": "trainer", "library": "mpich", "order": order, "step_s": step_s, "rate": "1mbit", "load": "0.5"})
                               for run, times in enumerate(((0.2, 0.1, 0.09), (0.3, 0.1, 0.1), (0.3, None, 0.1)))
                               for order, step_s in zip(("slurm", "placed", "best"), times)))
    tests.append(("| trainer | MPICH | 2 of 3 | 250.0 ms (200.0 to 300.0) | 100.0 ms (100.0 to 100.0) | 95.0 ms (90.0 to 100.0) | "
                  "2.50 times (2.00 to 3.00) | 95 % (90 to 100) |" in rows, "a round that lacks a run is left out of the table of orders", rows.split("\n")))
    run = {"what": "`srun`", "ranks": [4], "status": [0, 0], "states": [[], []], "differs": [], "recorded": [[4, 4]], "told": [], "slurm": "22.05", "date": "2026-01-01", "load": 0.5}
    odd = {"status": [0, 1], "differs": ["stdout: + line"], "recorded": [[3, 4]]}
    rows = forms("\n".join(json.dumps({**run, **r}) for r in ({"form": "a", **odd}, {"form": "b", **odd}, {"form": "a"}, {"form": "c", "recorded": [], "told": ["why 70001"]})))
    wanted = ("| `srun` | the same | 0 | 4 of 4 ranks |", "| `srun` | **differs** | **0, guarded 1** | 3 of 4 ranks, **neither recorded nor told** |",
              "| `srun` | the same | 0 | 0 of 4 ranks, told: why N |")
    tests.append((rows.split("\n")[2:5] == list(wanted), "the table of forms has the last run of each, and marks what differs and what was not told", rows.split("\n")))
    run = {"release": "trixie", "slurm": "24.11", "openmpi": "5", "mpich": "4", "torch": "2", "gcc": "14", "build": "not run", "units": "not run", "cluster": "not run",
           "demo": "not run", "date": "2026-01-01", "commit": "a"}
    rows = matrix("\n".join(json.dumps({**run, **r}) for r in ({"build": "failed"}, {"build": "passed"}, {"cluster": "passed, 1 skipped"}, {"release": "sid", "build": "passed"})))
    wanted = ["| Debian 13 | 24.11 | 5 | 4 | 2 | 14 | passed | passed, 1 skipped |", "| Debian unstable | 24.11 | 5 | 4 | 2 | 14 | passed | - |"]
    tests.append((rows.split("\n")[2:4] == wanted, "the table of releases has the last run of each part, and no part that ran nowhere", rows.split("\n")))
    other = json.loads(json.dumps(result))
    other["sgtop"], other["step"] = {"first_paint_s": 0.9}, None
    other = table(other)
    tests.append(("| 900.0 ms, not measured; **misses 100 ms** |" in other and "| not measured | 1.005 (upper end) |" in other, "a figure beyond its limit and one not measured are marked", other.split("\n")))
    print(f"1..{len(tests)}")
    for i, (good, what, why) in enumerate(tests):
        print(f"{'ok' if good else 'not ok'} {i + 1} - {what}")
        for line in [] if good else why:
            print(f"# {line}")
    return not all(good for good, _, _ in tests)


def main():
    words = sys.argv[1:]
    tables = {"--placement": placement, "--forms": forms}
    if len(words) == 2 and words[0] in tables:
        print(tables[words[0]](read(words[1])), end="")
        return 0
    writing = words[:1] == ["--write"]
    source = next((w for w in words if w.endswith(".json")), None)
    tops = [w for w in words if w not in ("--write", source)]
    top = tops[0] if tops else os.environ.get("top_srcdir", ".")
    return write(top, source) if writing else check(top)


sys.exit(main())
