import type { Candidate, Entity, EventPage } from "./generated/types.gen.ts";

export type * from "./generated/types.gen.ts";

/** Several entities match. Best first. */
export type Candidates = { candidates: Candidate[] };

/** The answer of a look-up: an entity, or the candidates of a fuzzy one. */
export type LookupResult = Entity | Candidates;

/** Events read forward. `next_cursor` is always present. */
export type ForwardEventPage = EventPage & { next_cursor: string };
