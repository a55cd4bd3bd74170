"""What people decided on values like this one: kept by a scorer, weighed beside its stack."""
