"""Languages of which definitions and file structure are known, and no calls: one reader, a small table for each."""
