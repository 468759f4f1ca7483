export { isOutcomeUnknown } from "@vvs/errors";
export { forAged, type Keeping, superviseAging } from "./aged.ts";
export { valueById } from "./by-id.ts";
export { type Cap, type CapDocument, createCap } from "./cap.ts";
export {
  connectMongo,
  databaseName,
  type EnvironmentDatabases,
  environmentDatabases,
  pingMongo,
} from "./client.ts";
export { databaseClock } from "./clock.ts";
export { createCollections, dropIndex } from "./collections.ts";
export { type MongoOptions, mongoOptions, mongoSection } from "./config.ts";
export { calendarWindow, giveBack, take, windowFromFirst } from "./counter.ts";
export { afterEffect, isDuplicateKey, translateMongoError } from "./errors.ts";
export { createExpiry } from "./expiry.ts";
export { createGroupCommit } from "./group-commit.ts";
export { findPage, type Page } from "./page.ts";
export { replaceUnchanged } from "./replace-unchanged.ts";
export { createShares } from "./shares.ts";
export { inTransaction, type TransactionOptions } from "./transaction.ts";
