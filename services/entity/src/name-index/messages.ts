import type { Environment } from "@vvs/tenant";
import type { NormalizedName } from "../matching/names/normalize-name.ts";
import type { SearchResult } from "./search.ts";

// What the service and the thread that holds the index tell each other.

/** What a thread is started with. */
export interface ThreadData {
  readonly mongodbUri: string;
  /** Names of the databases. */
  readonly databases: Readonly<Record<Environment, string>>;
  /** Changes that it takes in before everything should be read anew; undefined for as many as its size allows. */
  readonly maxChanges?: number;
  /** Is there an index that answers meanwhile? Then this one is built with rests, so that others have the processors. */
  readonly isRenewal: boolean;
}

export interface SearchMessage {
  readonly number: number;
  readonly environment: Environment;
  readonly name: NormalizedName;
  readonly organizationId: string;
  readonly limit: number;
}

export type ThreadMessage =
  | { readonly kind: "ready"; readonly entities: number; readonly names: number; readonly seconds: number }
  | { readonly kind: "found"; readonly number: number; readonly result: SearchResult }
  | { readonly kind: "refused"; readonly number: number; readonly error: unknown }
  /** Milliseconds since 1970 until when the index misses nothing. */
  | { readonly kind: "position"; readonly environment: Environment; readonly completeUntil: number }
  /** It follows no further; told once the changes have become few, so that reading anew is worth while. */
  | { readonly kind: "full" }
  | { readonly kind: "away"; readonly environment: Environment; readonly error: unknown };
