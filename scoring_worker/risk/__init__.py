"""What can be promised of accepted values: bounds, thresholds that keep them, draws behind them."""
