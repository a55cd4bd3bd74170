"""Learning from decisions: from enough reviews to a candidate that asks to be promoted."""
