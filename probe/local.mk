# probe/: see doc/ARCHITECTURE.md
