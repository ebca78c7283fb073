"""C#: one file → nodes and the summary that linking works on; namespaces over files."""
