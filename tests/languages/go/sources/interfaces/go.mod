module example.org/draw
