# policies/: see doc/ARCHITECTURE.md
