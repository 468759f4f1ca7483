export {
  connectMongo,
  databaseName,
  type EnvironmentDatabases,
  environmentDatabases,
  inTransaction,
} from "./client.ts";
export { createCollections } from "./collections.ts";
export { mongoSection } from "./config.ts";
export { isDuplicateKey, translateMongoError } from "./errors.ts";
export { createGroupCommit } from "./group-commit.ts";
export { findPage, type Listed, type Page } from "./page.ts";
