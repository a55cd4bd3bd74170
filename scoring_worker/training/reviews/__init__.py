"""Quality by the number of reviews of a field that were learnt from."""
