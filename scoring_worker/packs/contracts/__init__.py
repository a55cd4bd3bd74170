"""The pack ``contracts``: what the clauses of a contract speak of."""
