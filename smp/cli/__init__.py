"""The command line: a file a group of commands; `main.py` puts them together."""
