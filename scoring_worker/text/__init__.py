"""Words of any script at their places, as they are compared; script and language of a text."""
