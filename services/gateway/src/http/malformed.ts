import type { IncomingMessage } from "node:http";
import { ServiceError } from "@vvs/errors";

/** Refuses requests that Node's parser accepts and that could be read in two ways. Errors: invalid_request. */
export function refuseMalformed({ headersDistinct, httpVersion }: IncomingMessage): void {
  const { host, authorization, "transfer-encoding": codings } = headersDistinct;
  if (host === undefined && httpVersion === "1.1") refuse("The request has no Host header. Send one.");
  if (host && host.length > 1) refuse("The request has more than one Host header. Send one.");
  if (authorization && authorization.length > 1)
    refuse("The request has more than one Authorization header. Send one.");
  if (codings && codings.join().trim().toLowerCase() !== "chunked") {
    refuse("The Transfer-Encoding is not supported. Send the body with a Content-Length, or chunked.");
  }
}

function refuse(message: string): never {
  throw new ServiceError("invalid_request", { message });
}
