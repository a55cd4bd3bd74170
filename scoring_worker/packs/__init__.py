"""Optional knowledge of a domain. None is at work unless it is asked for by name."""
