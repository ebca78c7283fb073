"""What the integrity gate knows of JavaScript and TypeScript: what an assertion is, how values flow to one, which mutants to make."""
