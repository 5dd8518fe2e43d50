# analysis/: see doc/ARCHITECTURE.md
