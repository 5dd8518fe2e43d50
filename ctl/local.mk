# ctl/: see doc/ARCHITECTURE.md
