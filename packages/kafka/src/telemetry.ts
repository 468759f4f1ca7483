import {
  type Attributes,
  type Context,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { ConsumedRecord, RecordHeaders } from "./record.ts";

const SCOPE = "@vvs/kafka";

/** Attributes of OpenTelemetry's semantic conventions for messaging, v1.44, which are not stable yet. */
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

const SYSTEM = "kafka";
/** Bucket limits in seconds, as the conventions prescribe. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/**
 * Creates the instruments of this package: for each client and not on import, because the SDK must be started first.
 */
export function createInstruments() {
  const meter = metrics.getMeter(SCOPE);
  return {
    meter,
    sent: meter.createCounter("messaging.client.sent.messages", {
      description: "Records sent to Kafka; with error_type those that were refused or not confirmed.",
    }),
    consumed: meter.createCounter("messaging.client.consumed.messages", { description: "Records read from Kafka." }),
    processDuration: meter.createHistogram("messaging.process.duration", {
      unit: "s",
      description: "Duration of one attempt to process a record or a batch of records.",
      advice: { explicitBucketBoundaries: DURATION_BUCKETS },
    }),
    retrying: meter.createUpDownCounter("kafka_consumer_retrying_records", {
      description:
        "Records whose processing failed and is tried again. Above 0 for minutes: a dependency is unavailable.",
    }),
    deadLetters: meter.createCounter("dead_letter_records", {
      description: "Records moved to a dead-letter topic because they can't be processed. Look at each of them.",
    }),
    committedLag: meter.createObservableGauge("kafka_consumer_committed_lag", {
      description:
        "Records between the last finished one and the end of the partition, at the last fetch. If it grows, the consumers are too slow.",
    }),
  };
}

export type Instruments = ReturnType<typeof createInstruments>;

/**
 * Starts the span of sending records of a topic together. A single one is sent in the trace of its own headers (for work that was
 * stored and is sent later), else the active one; several are one span, since a span for each cost more than sending it.
 */
export function startSendSpan(topic: string, records: readonly { headers?: RecordHeaders }[]): Span {
  const own = records.length === 1 ? (records[0]!.headers ?? {}) : {};
  const options = {
    kind: SpanKind.PRODUCER,
    attributes: {
      ...sendAttributes(topic),
      [attributes.operationType]: "send",
      [attributes.batchSize]: records.length,
    },
  };
  return trace.getTracer(SCOPE).startSpan(`send ${topic}`, options, propagation.extract(context.active(), own));
}

export function sendAttributes(topic: string): Attributes {
  return { [attributes.system]: SYSTEM, [attributes.operationName]: "send", [attributes.destination]: topic };
}

/** Trace context as headers. */
export type TraceCarrier = Readonly<Record<string, string>>;

/** Up to this number of records processed together have a span each. */
const MOST_SPANS = 50;

/**
 * Runs one attempt to process records, and measures its duration. Each record has a span of its own whose parent is the
 * span that caused it, so that one record has one trace (the conventions' default for batches is a link). More than fifty have
 * one span together, since a span for each costs about as much as a webhook. `attempt` gets the contexts for what a record
 * causes: that of its span, else that of the span that caused the record.
 */
export async function processing<T>(
  instruments: Instruments,
  groupId: string,
  records: readonly ConsumedRecord[],
  attempt: (contexts: readonly Context[]) => Promise<T>,
): Promise<T> {
  const common = processAttributes(groupId, records[0]!);
  const parents = records.map(({ headers }) => propagation.extract(ROOT_CONTEXT, headers));
  const isOneSpan = records.length > MOST_SPANS;
  const spans = isOneSpan
    ? [startProcessSpan(ROOT_CONTEXT, { ...common, [attributes.batchSize]: records.length })]
    : records.map((record, index) => startProcessSpan(parents[index]!, { ...common, ...recordAttributes(record) }));
  const contexts = isOneSpan ? parents : spans.map((span, index) => trace.setSpan(parents[index]!, span));
  const startedAt = performance.now();
  let error: string | undefined;
  try {
    return await attempt(contexts);
  } catch (thrown) {
    for (const span of spans) error = failSpan(span, thrown);
    throw thrown;
  } finally {
    instruments.processDuration.record((performance.now() - startedAt) / 1_000, {
      ...common,
      ...(error && { [attributes.errorType]: error }),
    });
    for (const span of spans) span.end();
  }
}

function startProcessSpan(parent: Context, of: Attributes): Span {
  const name = `process ${of[attributes.destination]}`;
  const options = { kind: SpanKind.CONSUMER, attributes: { ...of, [attributes.operationType]: "process" } };
  return trace.getTracer(SCOPE).startSpan(name, options, parent);
}

/** Returns W3C trace headers of a context, for work that continues later. */
export function traceHeaders(of: Context): TraceCarrier {
  const carrier: Record<string, string> = {};
  propagation.inject(of, carrier);
  return carrier;
}

/** Attributes with few values, which metrics can have too. */
function processAttributes(groupId: string, record: ConsumedRecord): Attributes {
  return {
    [attributes.system]: SYSTEM,
    [attributes.operationName]: "process",
    [attributes.destination]: record.topic,
    [attributes.consumerGroup]: groupId,
  };
}

function recordAttributes(record: ConsumedRecord): Attributes {
  return {
    [attributes.partition]: String(record.partition),
    [attributes.offset]: Number(record.offset),
    [attributes.key]: record.key.toString(),
  };
}

/** Marks a span as failed; returns the error's type. The message is left out of traces, since it may quote data. */
export function failSpan(span: Span, thrown: unknown): string {
  const type = thrown instanceof Error ? thrown.name : "unknown";
  span.setAttribute(attributes.errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
  return type;
}
