#!/bin/sh
# Simulated times agree with SimGrid's (8 and 64 hosts, some seconds); skipped where there is no smpirun.
exec python3 "$top_srcdir/tests/simgrid/compare" --build "$top_builddir" --quick --tap
