import type { IncomingMessage, ServerResponse } from "node:http";
import type { ObservedRequest } from "@vvs/http";
import { type IdPrefix, isId } from "@vvs/ids";

/** What a request with a valid key calls. It has no text of the path that the route does not know. */
export interface CallTarget {
  /** Template of the path. */
  readonly route: string;
  /** The id in the path; empty if there is none, or if it does not have the form of the route's ids. */
  readonly objectId: string;
}

/** A request with a valid key, when it is over. */
export interface AnsweredCall extends CallTarget {
  readonly requestId: string;
  readonly method: string;
  /** 0 if the client hung up before the answer. */
  readonly status: number;
  readonly durationMs: number;
  /** Code of the error in the answer; empty if there is none. */
  readonly error: string;
}

export function callTarget(
  { path, id }: { readonly path: string; readonly id?: { readonly prefix: IdPrefix } },
  objectId: string,
): CallTarget {
  return { route: path, objectId: id && isId(id.prefix, objectId) ? objectId : "" };
}

export function answeredCall(
  exchange: ObservedRequest & { readonly request: IncomingMessage; readonly response: ServerResponse },
  target: CallTarget,
  durationMs: number,
): AnsweredCall {
  const { request, response, requestId, fields } = exchange;
  return {
    ...target,
    requestId,
    method: request.method ?? "",
    status: response.headersSent ? response.statusCode : 0,
    durationMs,
    error: typeof fields.error === "string" ? fields.error : "",
  };
}
