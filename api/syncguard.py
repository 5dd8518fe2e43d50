"""syncguard - ask whether a checkpoint is due, report what checkpoints cost and how many samples a step has.

The Python interface of syncguard.h, see syncguard(3).  It needs only libsyncguard.so; without the library, or in
a job that is not guarded, no checkpoint is due.

    import syncguard

    for batch in batches:
        train(batch)
        syncguard.samples(len(batch))
        if syncguard.checkpoint_due():      # on all ranks at the same step
            with syncguard.checkpoint():
                save()
"""

import contextlib
import ctypes
import os

__all__ = ["checkpoint", "checkpoint_due", "guarded", "preempted", "samples"]


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    names = [os.environ.get("SYNCGUARD_LIBRARY"), "libsyncguard.so.0",
             os.path.join(here, "..", "..", "lib", "libsyncguard.so.0")]
    for name in filter(None, names):
        try:
            lib = ctypes.CDLL(name)
            lib.sg_samples.argtypes = [ctypes.c_uint64]
            lib.sg_samples.restype = None
            lib.sg_checkpoint_end.argtypes = [ctypes.c_int]
            lib.sg_checkpoint_end.restype = None
            lib.sg_checkpoint_begin.restype = None
            lib.sg_preempted.restype = None
            lib.sg_checkpoint_due.restype = lib.sg_guarded.restype = ctypes.c_int
            return lib
        except (OSError, AttributeError):
            continue
    return None


_lib = _load()


def checkpoint_due():
    """Whether to write a checkpoint now. Every rank must call this once a step, at the same place of its loop."""
    return _lib is not None and _lib.sg_checkpoint_due() != 0


@contextlib.contextmanager
def checkpoint():
    """Context for writing a checkpoint. An exception passes through and reports that it was not written."""
    if _lib is None:
        yield
        return
    written = 0
    _lib.sg_checkpoint_begin()
    try:
        yield
        written = 1
    finally:
        _lib.sg_checkpoint_end(written)


def samples(n):
    """Report that this rank has processed n samples since the last call."""
    if _lib is not None and n > 0:
        _lib.sg_samples(int(n))


def preempted(*_):
    """Report that the program will soon be ended. Can be a handler: signal.signal(signal.SIGTERM, preempted)."""
    if _lib is not None:
        _lib.sg_preempted()


def guarded():
    """Whether this process is guarded."""
    return _lib is not None and _lib.sg_guarded() != 0
