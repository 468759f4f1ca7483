// Only for tests: images do not contain this package.
export { atEnd, closeAll, temporaryFolder, untilEnd } from "./at-end.ts";
export { type DatabasePool, databasePool } from "./database-pool.ts";
export { eventually } from "./eventually.ts";
export { hookedDb } from "./hooked-db.ts";
export { listening } from "./listening.ts";
export { captureLogs, type LogLine, silentLogger } from "./logs.ts";
export { type TestMongo, testMongo } from "./mongo.ts";
export { type Command, type MongoProxy, mongoProxy } from "./mongo-proxy.ts";
export { startScript } from "./script.ts";
export { skippedEntries } from "./skipped-entries.ts";
export { createWorkMeter } from "./work.ts";
export { zip } from "./zip.ts";
