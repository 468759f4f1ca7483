export { type LeasedWork, runLeasedWork } from "./leased-work.ts";
export { createLeases, type Leases, migrateLeases } from "./leases.ts";
export { createOutbox, migrateOutbox, type Outbox, type OutboxRecord, withActiveTrace } from "./outbox.ts";
export { type OutboxRelay, type RelayOptions, runOutboxRelay } from "./relay.ts";
export { shardOf } from "./rows.ts";
