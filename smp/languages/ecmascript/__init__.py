"""What JavaScript, TypeScript and TSX have in common: one family of grammars, scopes, modules and built-ins.

`javascript.py` and `typescript.py` beside this package name the dialect; everything that is true of both lives here.
"""
