"""targets - the limits that tests/bench/bench checks and doc/costs.md states: for each figure of bench.json its limit, in SI units."""
AT_MOST = {
    "hook_ns.p50": 40, "hook_ns.p999": 500, "hook_ratio": 1.4, "hook_message_ratio": 1.4,
    "nccl.callback": 100, "nccl.dropped": 0,
    "pacing.small_ratio": 1.02,
    "step.high": 1.005,  # the upper end of the interval
    "memory.ring_bytes_per_rank": 2 << 20, "memory.agent_bytes": 16 << 20, "memory.controller_bytes_1000_ranks": 64 << 20,
    "cold.connected_s": 10, "cold.core_ratio": 1,
    "scale.core_ratio": 0.5, "scale.json_first_byte_s": 1, "scale.json_peak_bytes": 64 << 20, "scale.first_job_s": 0.3,  # 16,384 ranks that pass messages
    "launch_extra_s.up": 0.010, "launch_extra_s.down": 0.010,
    "start.most_cpu_extra_s": 0.010,  # of a rank's own time
    "siege.status_p95_s": 1, "siege.peak_bytes": 256 << 20, "siege.failed": 0,
    "time_to_name.seconds": 2.0,  # or 16 collectives, whichever is later
    "sgtop.first_paint_s": 0.1, "sgtop.cpu_ratio": 0.01, "sgtop.first_job_s": 0.3,  # the last: with 16,384 ranks
    "sgrun.first_screen_s": 2.0,
    "analyze.peak_bytes": 64 << 20,
    "engine.bytes_per_rank_1024": 4 << 10,
    "engine.messages.bytes_per_rank_64": 64 << 10, "engine.messages.bytes_per_rank_1024": 8 << 10, "engine.messages.bytes_per_rank_16384": 8 << 10,
    "network.simgrid.off_alone": 0.02, "network.simgrid.off_shared": 0.05, "network.peak_bytes": 1 << 30,
}
AT_LEAST = {
    "analyze.records_per_s": 5e5, "analyze.ratio": 1,
    "siege.steps_ratio": 0.99,
    "engine.events_per_s": 1e6, "engine.ratio": 0.25, "engine.messages.calls_per_s": 2e6, "engine.messages.slow_rank_calls_per_s": 2e6,
    "network.halving_walked_per_s": 1e7, "network.simgrid.faster": 100, "network.exact_ring_512_events_per_s": 1e7,
}


def look_up(result, path):
    """The figure, or None."""
    for key in path.split("."):
        result = result.get(key) if isinstance(result, dict) else None
    return result


def missed(result, path):
    """Was the figure measured, and is it beyond its limit?"""
    value = look_up(result, path)
    if value is None:
        return False
    return value > AT_MOST[path] if path in AT_MOST else value < AT_LEAST[path]
