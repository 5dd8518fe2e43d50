"""formulas - answers of sgplan by the formulas themselves, computed here: exact expressions, quadrature, root finding.

rows() yields (arguments, key, expected, relative tolerance, source), as the rows of known.csv.  Only the standard library is used.
"""
import math
from statistics import NormalDist

NORMAL = NormalDist()


def expected_max(n, drop=0):
    """Mean of the (drop + 1)-th largest of n standard normals: the integral of x times its density, by Simpson's rule."""
    k = n - drop  # the k-th smallest
    log_c = math.lgamma(n + 1) - math.lgamma(k) - math.lgamma(n - k + 1)

    def f(x):
        below, above = NORMAL.cdf(x), NORMAL.cdf(-x)
        if below <= 0 or above <= 0:
            return 0
        return x * NORMAL.pdf(x) * math.exp(log_c + (k - 1) * math.log(below) + (n - k) * math.log(above))

    return simpson(f, -8, 8)


def lognormal_amplification(n, cv):
    """Mean of the largest of n lognormals over the mean of one, by quadrature over the normal that it is of."""
    sigma = math.sqrt(math.log(1 + cv * cv))

    def f(x):
        return math.exp(sigma * x - sigma * sigma / 2) * n * NORMAL.pdf(x) * NORMAL.cdf(x) ** (n - 1)

    return simpson(f, -8, 12)


def simpson(f, low, high, parts=8000):
    h = (high - low) / parts
    return h / 3 * sum(f(low + i * h) * (1 if i in (0, parts) else 4 if i % 2 else 2) for i in range(parts + 1))


def optimal_interval_s(write_s, mtbf_s):
    """The root of the derivative of (e^((t+C)/M) - 1) / t, by bisection: t = M (1 - e^(-(t+C)/M))."""
    low, high = 1e-9 * mtbf_s, 10 * mtbf_s
    for _ in range(200):
        t = (low + high) / 2
        if t - mtbf_s * (1 - math.exp(-(t + write_s) / mtbf_s)) < 0:
            low = t
        else:
            high = t
    return t


def daly_s(write_s, mtbf_s):
    x = write_s / (2 * mtbf_s)
    return math.sqrt(2 * write_s * mtbf_s) * (1 + math.sqrt(x) / 3 + x / 9) - write_s


def checkpoints():
    for write, mtbf in ((5, 3600), (40, 20000), (200, 50000), (900, 86400)):
        call = f"checkpoint --write={write}s --mtbf={mtbf}s"
        t = optimal_interval_s(write, mtbf)
        yield call, "young_s", math.sqrt(2 * write * mtbf), 1e-6, "sqrt(2 C M): Young 1974"
        yield call, "daly_s", daly_s(write, mtbf), 1e-5, "Daly 2006, higher order"
        yield call, "optimal_s", t, 1e-5, "exponential failures: t = M (1 - e^(-(t+C)/M))"
        yield call, "overhead", mtbf * (math.exp((t + write) / mtbf) - 1) / t - 1, 1e-4, "M (e^((t+C)/M) - 1) / t - 1 at the optimum"
    t, restart = optimal_interval_s(100, 40000), 300
    good = t / (40000 * math.exp(restart / 40000) * (math.exp((t + 100) / 40000) - 1))
    yield "checkpoint --write=100s --mtbf=40000s --restart=300s", "goodput", good, 1e-4, "t / (M e^(R/M) (e^((t+C)/M) - 1))"
    for nodes in (100, 3000):
        yield f"mtbf --nodes={nodes} --failures-per-1000-node-days=6.5", "mtbf_s", 86400 * 1000 / 6.5 / nodes, 1e-9, "1 / (N r)"


def collectives():
    a, b = 20e-6, 1 / 12.5e9
    for n, mb in ((4, 1), (48, 10), (512, 250)):
        m = mb * 1e6
        link = f"--ranks={n} --bytes={mb}MB --latency=20us --bandwidth=12.5GB/s"
        one = (n - 1) * (a + m / n * b)
        yield f"collective --op=allreduce --algo=ring {link}", "time_s", 2 * one, 1e-6, "2 (N-1) (a + m/N b): Patarasuk & Yuan 2009"
        yield f"collective --op=allgather --algo=ring {link}", "time_s", one, 1e-6, "(N-1) (a + m/N b)"
        yield f"collective --op=reduce-scatter --algo=ring {link}", "time_s", one, 1e-6, "(N-1) (a + m/N b)"
        yield f"collective --op=alltoall {link}", "time_s", one, 1e-6, "(N-1) (a + m/N b)"
    for n in (8, 128):
        link, rounds = f"--ranks={n} --bytes=10MB --latency=20us --bandwidth=12.5GB/s", math.log2(n)
        yield (f"collective --op=allreduce --algo=halving-doubling {link}", "time_s", 2 * rounds * a + 2 * 10e6 * b * (n - 1) / n, 1e-6,
               "2 log2(N) a + 2 m b (N-1)/N: Rabenseifner")
        yield f"collective --op=allreduce --algo=tree {link}", "time_s", 2 * rounds * (a + 10e6 * b), 1e-6, "2 log2(N) (a + m b)"
        # 2 (N-1) a + 2 m b (N-1)/N = 2 log2(N) (a + m b)
        m = a * (n - 1 - rounds) / (b * (rounds - (n - 1) / n))
        yield f"collective --op=allreduce --crossover=ring,tree --ranks={n} --latency=20us --bandwidth=12.5GB/s", "crossover_bytes", m, 1e-6, "ring = tree"
    yield "collective --op=parameter-server --ranks=50 --shards=5 --bytes=1GB --bandwidth=10GB/s", "time_s", 2 * 50 * 1e9 / (5 * 10e9), 1e-6, "2 N m / (S B)"


def pipelines():
    for p, m in ((2, 6), (6, 18), (16, 64)):
        yield f"pipeline --stages={p} --microbatches={m} --schedule=1f1b", "bubble", (p - 1) / (m + p - 1), 1e-9, "(p-1) / (m+p-1)"
        yield f"pipeline --stages={p} --microbatches={m} --schedule=gpipe", "speedup", p * m / (m + p - 1), 1e-9, "p m / (m+p-1)"
    yield "pipeline --stages=6 --microbatches=12 --schedule=interleaved --chunks=3", "bubble", 5 / (3 * 12 + 5), 1e-9, "(p-1) / (v m+p-1)"
    yield "pipeline --stages=5 --target-utilization=0.9", "microbatches", 36, 1e-9, "E (p-1) / (1-E)"


def waiting():
    for n in (3, 32, 500):
        yield f"straggler --ranks={n} --dist=normal --cv=0.1", "z", expected_max(n), 1e-4, "mean of the largest of N standard normals, by quadrature"
        yield f"straggler --ranks={n} --dist=lognormal --cv=0.2", "amplification", lognormal_amplification(n, 0.2), 2e-3, "largest of N lognormals, by quadrature"
    yield "straggler --ranks=100 --dist=normal --cv=0.2 --drop=3", "z", expected_max(100, 3), 1e-3, "mean of the fourth largest, by quadrature"
    for n in (10, 700):
        yield f"straggler --ranks={n} --p-slow=0.002", "p_any_slow", 1 - (1 - 0.002) ** n, 1e-9, "1 - (1-p)^N"
    for tau in (2, 7, 30):
        yield f"staleness --tau={tau}", "lr_lambda_limit", 2 * math.sin(math.pi / (2 * (2 * tau + 1))), 1e-5, "2 sin(pi / (2 (2 tau+1)))"


def steps():
    yield "speedup --compute=3s --comm=1s --ranks=6", "speedup", 4 / 1.5, 1e-9, "(Tc+Tm) / (Tc/n+Tm)"
    yield "speedup --compute=30s --comm=2s", "speedup_max", 16, 1e-9, "(Tc+Tm) / Tm"
    yield "speedup --compute=30s --comm=2s", "ranks_at_balance", 15, 1e-9, "Tc / Tm"
    yield "step --compute=90ms --comm=30ms", "efficiency", 0.75, 1e-9, "Tc / (Tc+Tm)"
    yield "step --compute=50ms --comm=100ms --accumulate=8", "comm_share", 0.2, 1e-9, "Tm / (K Tc+Tm)"
    yield "step --compute=100ms --comm=80ms --backward=50ms --overlap=0.5", "exposed_comm_s", 0.055, 1e-9, "Tm - e Tb"
    yield "localsgd --compute=20ms --comm=90ms --penalty=0.02", "k_continuous", 15, 1e-9, "sqrt(Tm / (c Tc))"
    yield "compress --ratio=0.2 --iterations-ratio=1.5", "break_even_comm_over_compute", 0.5 / 0.7, 1e-9, "(I-1) / (1-r I)"
    for zero, each in ((0, 16), (1, 4 + 12 / 16), (2, 2 + 14 / 16), (3, 1)):
        yield f"memory --params=3e9 --ranks=16 --zero={zero}", "bytes_per_rank", 3e9 * each, 1e-9, "mixed-precision Adam, 16 bytes a parameter: ZeRO (SC 2020)"


def rows():
    for group in (checkpoints, collectives, pipelines, waiting, steps):
        yield from group()
