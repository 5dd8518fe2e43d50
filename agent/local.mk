# agent/: see doc/ARCHITECTURE.md
