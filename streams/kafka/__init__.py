"""The clients of the broker: topics are made, records written and read here."""
