"""How the weights that ship are made: run in a clone, with the data sets beside it."""
