// The messages between the service and the thread with the name index.
import type { MongoOptions } from "@vvs/mongo";
import type { Environment } from "@vvs/tenant";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import type { SearchResult } from "./search.ts";

/** The thread's `workerData`. */
export interface ThreadData {
  readonly mongodb: MongoOptions;
  /** Names of the databases. */
  readonly databases: Readonly<Record<Environment, string>>;
  /** Maximum number of registry changes in the index before it is rebuilt; depends on its size where undefined. */
  readonly maxChanges?: number;
  /** Maximum number of names of one organization's own entities; the usual one where undefined. */
  readonly maxOwnNames?: number;
  /** True while another index answers: this one is then built with pauses, to leave the processors to others. */
  readonly isRenewal: boolean;
}

export interface IndexQuery {
  readonly environment: Environment;
  readonly name: NormalizedName;
  readonly organizationId: string;
  /** Maximum number of hits. */
  readonly limit: number;
}

/** Names of organizations' own entities in an index: of all together, and of the one with the most. */
export interface OwnNames {
  readonly total: number;
  readonly largest: number;
}

export interface FoundNames extends SearchResult {
  /** The organization has more names than its share: some of them are not in the index. */
  readonly lacksOwn: boolean;
}

export interface SearchMessage extends IndexQuery {
  readonly number: number;
}

export type ThreadMessage =
  | { readonly kind: "ready"; readonly names: number; readonly seconds: number }
  | { readonly kind: "found"; readonly number: number; readonly result: FoundNames }
  | { readonly kind: "refused"; readonly number: number; readonly error: unknown }
  /** The index misses nothing until this time, in milliseconds since 1970. */
  | {
      readonly kind: "position";
      readonly environment: Environment;
      readonly completeUntil: number;
      readonly ownNames: OwnNames;
    }
  /** The index skips changes and should now be rebuilt. */
  | { readonly kind: "full" }
  | { readonly kind: "away"; readonly environment: Environment; readonly error: unknown };
