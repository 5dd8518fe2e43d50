# spank/: see doc/ARCHITECTURE.md
