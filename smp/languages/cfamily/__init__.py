"""C and C++: one walk, one resolver and one set of tables for both, because they include and link to each other."""
