module example.org/one

require example.org/two v1.0.0

replace example.org/renamed => ../two
