module example.org/two/v2
