"""Numbers, amounts of money and quantities, in any notation and script."""
