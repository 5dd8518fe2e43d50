# tui/: see doc/ARCHITECTURE.md
