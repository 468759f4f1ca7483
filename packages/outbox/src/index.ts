export { createOutbox, migrateOutbox, type Outbox, type OutboxRecord, withActiveTrace } from "./outbox.ts";
export { type OutboxRelay, type RelayOptions, runOutboxRelay } from "./relay.ts";
