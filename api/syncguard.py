"""syncguard - ask whether a checkpoint is due, report what checkpoints cost, and what the time of a step goes to.

The Python interface of syncguard.h, see syncguard(3).  It needs only libsyncguard.so; without the library, or in
a job that is not guarded, no checkpoint is due, and what is reported goes nowhere.  No function raises or prints.

    import syncguard

    model.register_comm_hook(None, syncguard.ddp_hook)
    for batch, target in syncguard.inputs(loader):
        optimizer.zero_grad()
        with syncguard.phase("forward"):
            loss = criterion(model(batch), target)
        with syncguard.phase("backward"):
            loss.backward()
        with syncguard.phase("optimizer"):
            optimizer.step()
        syncguard.loss(loss)
        syncguard.samples(len(batch))
        syncguard.step()
        if syncguard.checkpoint_due():      # on all ranks at the same step
            with syncguard.checkpoint():
                save()
"""

import collections
import contextlib
import ctypes
import os

__all__ = ["checkpoint", "checkpoint_due", "ddp_hook", "grad_norm", "guarded", "inputs", "loss", "phase", "preempted",
           "samples", "step"]

_PHASES = {"input": 1, "forward": 2, "backward": 3, "communication": 4, "optimizer": 5}  # enum sg_phase

_SIGNATURES = {
    "sg_checkpoint_due": (ctypes.c_int,), "sg_checkpoint_begin": (None,), "sg_checkpoint_end": (None, ctypes.c_int),
    "sg_samples": (None, ctypes.c_uint64), "sg_preempted": (None,), "sg_guarded": (ctypes.c_int,),
    "sg_phase": (ctypes.c_int, ctypes.c_int), "sg_step": (None,),
    "sg_loss": (None, ctypes.c_double), "sg_grad_norm": (None, ctypes.c_double),
}


def _load():
    """The library's functions by name; a library of an earlier release lacks some."""
    here = os.path.dirname(os.path.abspath(__file__))
    names = [os.environ.get("SYNCGUARD_LIBRARY"), "libsyncguard.so.0",
             os.path.join(here, "..", "..", "lib", "libsyncguard.so.0")]
    for name in filter(None, names):
        try:
            lib, found = ctypes.CDLL(name), {}
            for function, (result, *arguments) in _SIGNATURES.items():
                if hasattr(lib, function):
                    found[function] = getattr(lib, function)
                    found[function].restype, found[function].argtypes = result, arguments
            if found:
                return found
        except OSError:
            continue
    return {}


_functions = _load()


def _call(name, *arguments):
    function = _functions.get(name)
    return function(*arguments) if function else 0


def checkpoint_due():
    """Whether to write a checkpoint now. Every rank must call this once a step, at the same place of its loop."""
    return _call("sg_checkpoint_due") != 0


@contextlib.contextmanager
def checkpoint():
    """Context for writing a checkpoint. An exception passes through and reports that it was not written."""
    written = 0
    _call("sg_checkpoint_begin")
    try:
        yield
        written = 1
    finally:
        _call("sg_checkpoint_end", written)


def samples(n):
    """Report that this rank has processed n samples since the last call."""
    if n > 0:
        _call("sg_samples", int(n))


def step():
    """A step ends here, and the next one begins. To be called once a step, at the end of the loop."""
    _call("sg_step")


class phase:
    """Context for a phase of a step: input, forward, backward, communication or optimizer. They may be inside of each other."""

    def __init__(self, name):
        self._number, self._before = _PHASES.get(name, 0), 0

    def __enter__(self):
        self._before = _call("sg_phase", self._number)

    def __exit__(self, *_):
        _call("sg_phase", self._before)


def inputs(loader):
    """Iterate over a loader; what it takes to come up with each item is the phase input."""
    with phase("input"):
        iterator = iter(loader)
    while True:
        with phase("input"):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


_AHEAD = 64  # values on a device that have not come yet; a program that is further ahead waits for the oldest
_coming = {"sg_loss": collections.deque(), "sg_grad_norm": collections.deque()}


def _copied(value):
    """A copy of a tensor on a device, and the event after which it is there; the program does not wait for it."""
    import torch
    copy = torch.empty((), dtype=torch.float64, pin_memory=True)
    copy.copy_(value.detach().reshape(()), non_blocking=True)
    return copy, torch.cuda.current_stream(value.device).record_event()


def _report(name, value):
    if not guarded():
        return
    coming = _coming[name]
    try:
        coming.append(_copied(value) if getattr(value, "is_cuda", False) else (value, None))
        while coming and (coming[0][1] is None or len(coming) > _AHEAD or coming[0][1].query()):
            copy, event = coming.popleft()
            if event is not None:
                event.synchronize()
            _call(name, float(copy))
    except Exception:  # no number, or a device that failed: the program will see that itself
        pass


def loss(value):
    """Report the loss, once a step: a number, or a tensor of one.  What is on a device is reported when it has come, with a later
    step's, so that the program does not wait for it."""
    _report("sg_loss", value)


def grad_norm(value):
    """Report the norm of the gradient, likewise."""
    _report("sg_grad_norm", value)


def ddp_hook(group, bucket):
    """For register_comm_hook() of DistributedDataParallel, with None or the process group as state: the same mean as without
    it.  From the last bucket on the phase backward is communication, for nothing is computed any more."""
    import torch.distributed as dist

    group = group or dist.group.WORLD
    if bucket.is_last():
        before = _call("sg_phase", _PHASES["communication"])
        if before != _PHASES["backward"]:
            _call("sg_phase", before)
    mean = bucket.buffer().mul_(1.0 / group.size())
    return dist.all_reduce(mean, group=group, async_op=True).get_future().then(lambda done: done.value()[0])


def preempted(*_):
    """Report that the program will soon be ended. Can be a handler: signal.signal(signal.SIGTERM, preempted)."""
    _call("sg_preempted")


def guarded():
    """Whether this process is guarded."""
    return _call("sg_guarded") != 0
