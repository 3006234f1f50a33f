"""The comparison: one idea per file, standard library only."""
