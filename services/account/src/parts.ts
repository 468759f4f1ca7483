import type { MongoClient } from "mongodb";
import type { AuditLog } from "./audit/audit.ts";
import type { AccountStore } from "./store.ts";

/** What most parts of the domain need. */
export interface Basics {
  readonly client: MongoClient;
  readonly store: AccountStore;
  readonly audit: AuditLog;
  readonly now: () => Date;
}
