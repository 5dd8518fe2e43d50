#!/bin/bash
# A training with DistributedDataParallel that marks what its steps consist of: with a guard and without it computes the same, its phases are
# known, and a loss that is no number is said with the rank on which it began.
. "${top_srcdir:=$PWD}/tests/gloo/torch.sh" || exit 99
export PYTHONPATH=$top_srcdir/api
library=$top_builddir/.libs/libsyncguard.so.0
echo 'Rule=diverged Policy=balanced When="non_finite" Hold=0s Action=signal Signal=USR1' >>"$dir/own.conf"
marked() { SYNCGUARD_LIBRARY=$library guarded --mark "$@"; }
report() { jq -c "$1" "$dir/report"; }

# ---- without a guard: three ranks, because thirds show how the mean is computed ----

short=(--ranks 3 --steps 40 --work 0)
bare=$(training "${short[@]}" | loss)
like "$bare" "^0x1\.[0-9a-f]+p" "the training that marks nothing prints its loss"
is "$(training "${short[@]}" --mark 2>&1 | loss)" "$bare" "with marks and without the library its loss is the same, bit by bit"
is "$(SYNCGUARD_LIBRARY=$library training "${short[@]}" --mark 2>&1 | loss)" "$bare" "with the library and without a guard its loss is the same"

# A value on a device is reported when it has come, in its place; what is no number is left out, and nothing raises.
is "$("$python" - <<'PY' 2>&1
import math
import syncguard

got, come = [], set()

class Event:
    def __init__(self, n): self.n = n
    def query(self): return self.n in come
    def synchronize(self): come.add(self.n)

class Tensor:
    is_cuda = True
    def __init__(self, n): self.n = n

syncguard._functions = {"sg_guarded": lambda: 1, "sg_loss": got.append, "sg_grad_norm": got.append}
class Copy:
    def __init__(self, n): self.n = n
    def __float__(self): return float(self.n) if self.n in come else -1.0  # memory that nothing was copied to yet

syncguard._copied = lambda t: (Copy(t.n), Event(t.n))
syncguard.loss(Tensor(1))
syncguard.loss(Tensor(2))
first = list(got)
come.add(1)
syncguard.loss(3)
second = list(got)
come.add(2)
syncguard.loss("none")
syncguard.loss(math.nan)
for n in range(100, 200):
    syncguard.loss(Tensor(n))
print(first, second, got[:4], got[4:] == list(range(100, 136)))
PY
)" "[] [1.0] [1.0, 2.0, 3.0, nan] True" \
    "values on a device come in their order, and are not waited for until 64 are ahead"

# ---- with a guard ----

marked "${short[@]}"
is "$(loss <"$dir/out")" "$bare" "with marks and a guard its loss is the same"

# Ten times what a busy machine keeps a rank waiting.
marked --ranks 4 --steps 120 --work 8 --slow 2 --by 150 --in-input
is "$(report '[.step_phases.ranks, (.step_phases.phases|map(.phase)|sort)]')" '[4,["backward","communication","forward","input","optimizer","other"]]' \
    "every rank's phases are known"
is "$(report '.step_phases.phases[]|select(.phase == "input").most_rank')" 2 "the rank that waits for its input is the one whose input is longest"
is "$(report '.step_phases|.step_s > 0.008 and (.phases|all(.least_s <= .median_s and .median_s <= .most_s))')" true "phases have a range, and the step a time"
is "$(report '.step_phases.phases as $p|($p[]|select(.phase == "forward").median_s) >= 0.008 and ($p[]|select(.phase == "input").most_s) >= 0.15')" true \
    "work of 8 ms is in the forward pass, and an input that takes 150 ms longer in the input"
like "$(report .step_phases.text)" "input takes longest on rank 2" "the report says which rank deviates"
echo "# $(report .step_phases.text)"
like "$(report .sentence)" "^.rank 2 on .* waited [0-9.]+ ms a step longer for its input than its peers and was last in " "the sentence names what most of its lateness is"
like "$(report '[.verdicts[]|select(.culprits == ["r2"]).cause][0]')" "it waits [0-9.]+ ms a step for input, the typical rank .* by its own marks" "the verdict on it has the input as a cause"
is "$(report '[.values.loss.ranks, .values.loss.step, .values.non_finite, .values.grad_norm]')" '[4,120,null,null]' "every rank's loss is known, and that it is a number"
is "$(report '[.events[]|select(.text|test("diverged"))]|length')" 0 "a rule about values that are no number does not act"

# ---- no number ----

marked --ranks 4 --steps 200 --work 8 --nan 1 --nan-step 60
is "$(report '.values.non_finite|[.value, .rank, .step, .ranks]')" '["loss",1,60,1]' "the rank and the step are named in which the loss was no number first"
like "$(report .sentence)" "The loss of rank 1.* not a finite number since step 60" "the sentence about the job says it"
is "$(report '.values.loss.non_finite')" 4 "the gradient took it to all ranks"
events=$(report '.events[].text')
like "$events" "loss of rank 1.* since step 60" "the events say it"
like "$events" "are held: a loss or gradient is not finite" "they say that nothing else is done to the job"
like "$events" "diverged: non_finite .yes. .*send USR1; withheld: job 1[.]0 is unconfirmed" "a rule about it decides, and is withheld, because nothing acts on an unconfirmed step"

# ---- what PyTorch's calls show of a program that marks nothing ----

guarded --ranks 4 --steps 120 --work 8 --slow 2 --by 150 --in-input
is "$(report '[.step_phases.source, .step_phases.ranks, (.step_phases.phases|map(.phase)|sort)]')" '["PyTorch",4,["backward","communication","forward","input","other"]]' \
    "the phases of a program that marks nothing are seen"
is "$(report '.step_phases.phases as $p|[($p[]|select(.phase == "input")|.most_s >= 0.15, .most_rank == 2), ($p[]|select(.phase == "forward").median_s >= 0.008)]')" '[true,true,true]' \
    "work of 8 ms is in the forward pass, and the rank whose thread waits before it is known"
like "$(report '[.verdicts[]|select(.culprits == ["r2"]).cause][0]')" "it stands still for [0-9.]+ ms before each forward pass .waiting for input.., the typical rank for .*, as PyTorch's calls show" \
    "the verdict on it says what was seen, and what that may be"
like "$(report .sentence)" "^.rank 2 on .* stood still [0-9.]+ ms longer than its peers before each forward pass and was last in " "so does the sentence"
is "$(report '(.rank_table|map(.delay_s)|add) as $caused|(.rank_table|map(.wait_s)|add)|(. - $caused|fabs) < 0.001 * $caused')" true \
    "what ranks wait for others is what these cause"
is "$(report '.step_phases.step_s as $s|.rank_table|all(.wait_s <= $s)')" true "no rank waits longer than a step, with several collectives in flight"
guarded accumulate --ranks 2 --steps 60 --work 8 --batches 3
is "$(report '[.step_phases.source, .step_phases.step_s >= 0.008]')" '["PyTorch",true]' "several batches a step, of which the last one is synchronised, are one step"

# ---- what communication shows of one that has no DistributedDataParallel ----

guarded average --ranks 4 --steps 200 --layers 1 --work 8
is "$(report '[.step_phases.source, .step_phases.ranks, .step_phases.phases]')" '[null,0,[]]' "without DistributedDataParallel and marks there are no phases"
is "$(report '.step_phases.inferred|.rest_s >= 0.008 and .rest_s < .step_s')" true "what communication shows is given apart"
echo "# $(report .step_phases.inferred)"
done_testing
