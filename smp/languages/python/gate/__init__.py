"""What the integrity gate knows of Python: what an assertion is, how values flow to one, and which mutants to make."""
