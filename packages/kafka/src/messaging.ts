// Names of OpenTelemetry's semantic conventions for messaging, v1.44. They are not stable yet, so they stand only here.

export const attributes = {
  system: "messaging.system",
  operationName: "messaging.operation.name",
  operationType: "messaging.operation.type",
  destination: "messaging.destination.name",
  partition: "messaging.destination.partition.id",
  consumerGroup: "messaging.consumer.group.name",
  offset: "messaging.kafka.offset",
  key: "messaging.kafka.message.key",
  batchSize: "messaging.batch.message_count",
  errorType: "error.type",
} as const;

export const metricNames = {
  sent: "messaging.client.sent.messages",
  consumed: "messaging.client.consumed.messages",
  processDuration: "messaging.process.duration",
  committedLag: "kafka_consumer_committed_lag",
  retrying: "kafka_consumer_retrying_records",
  deadLetters: "dead_letter_records",
} as const;

export const SYSTEM = "kafka";

/** Bucket limits in seconds, as the conventions prescribe. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
