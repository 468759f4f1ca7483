export { createKafka, type Kafka, type KafkaOptions } from "./client.ts";
export { kafkaOptions, kafkaSection, kafkaTopicsSection, topicSettings } from "./config.ts";
export type { BatchItem, BatchSubscription } from "./consumer/batch-delivery.ts";
export { batchSubscription, type ConsumerOptions, type RunningConsumer, subscription } from "./consumer/consumer.ts";
export type { Subscription } from "./consumer/delivery.ts";
export { PoisonRecordError } from "./errors.ts";
export { changeMessages, changesIn, type FieldChange, runIn, tenantIn, timeIn } from "./fields.ts";
export { consumerGroups } from "./groups.ts";
export { MAX_RECORD_BYTES, type Producer, recordBytes } from "./producer.ts";
export type { ProducerRecord, RecordHeaders } from "./record.ts";
export {
  allTopics,
  deadLetterTopic,
  type TopicName,
  type TopicSettings,
  type TopicSpec,
  topicFor,
  topicNames,
} from "./topics.ts";
