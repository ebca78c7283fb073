"""How call sites find their targets; `smp.indexing.link` is the entry."""
