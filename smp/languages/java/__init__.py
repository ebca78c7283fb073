"""Java: one file → nodes and the summary that linking works on; packages over files."""
