"""Sessions, artifacts and notifications in one SQLite file, `<data_dir>/sessions.db`: a module a port, one connection pool."""
