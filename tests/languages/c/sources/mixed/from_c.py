def from_c(x):
    return x
