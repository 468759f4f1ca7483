/** Returns the addresses of the servers that the test run has started, or was given. */
export function testServers() {
  const { MONGODB_URI, KAFKA_BROKERS, REDIS_URL } = process.env;
  return { mongodbUri: MONGODB_URI!, kafkaBrokers: KAFKA_BROKERS!.split(","), redisUrl: REDIS_URL! };
}
