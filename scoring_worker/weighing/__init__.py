"""How the default scorer reaches its opinion: what is asked, what was read, how it is weighed."""
