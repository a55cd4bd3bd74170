"""Apache Kafka as processes of the tests: brokers in KRaft mode on free loopback ports."""
