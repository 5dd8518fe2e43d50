# tests/: see doc/ARCHITECTURE.md
