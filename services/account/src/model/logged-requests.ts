import type { Environment } from "@vvs/tenant";

/** How long requests are kept. */
export const REQUESTS_KEPT_DAYS = 7;

/** A request that a gateway answered. */
export interface LoggedRequestDocument {
  /** 24 hexadecimal digits. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  /** When it was answered: by the gateway's clock, but never after the database's. */
  readonly created_at: Date;
  /** Method and template of the path, such as "GET /v1/entities/:id". */
  readonly operation: string;
  /** The id in the path; absent if there is none, or if it does not have the form of the route's ids. */
  readonly object_id?: string;
  /** 0 if the client hung up before the answer. */
  readonly status: number;
  readonly duration_ms: number;
  readonly api_key_id: string;
  readonly request_id: string;
  /** ok, no_answer, or the code of the error. */
  readonly outcome: string;
}

/** How many requests an organization can still log in an environment. Absent: all that an allowance has. */
export interface RequestAllowanceDocument extends Allowance {
  /** <organization>:<environment>. */
  readonly _id: string;
}

/** Requests of an hour that are not in the log. */
export interface RequestGapDocument {
  /** <organization>:<environment>:<hour>. */
  readonly _id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly hour: Date;
  readonly left_out: number;
}

/** How many requests can still be logged. */
export interface Allowance {
  readonly left: number;
  /** When `left` was computed. */
  readonly at: Date;
}
