module example.org/shop // the shop

go 1.22
