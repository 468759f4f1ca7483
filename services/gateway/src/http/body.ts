import type { IncomingMessage } from "node:http";
import { ServiceError, type Violation } from "@vvs/errors";
import { MAX_ENTRIES } from "../input/identifiers.ts";
import { TOO_DEEP, textProblems } from "./json-text.ts";
import { cutVendors } from "./vendor-texts.ts";

export const MAX_BODY_BYTES = 100_000;
/** The same of a job's. */
export const MAX_JOB_BYTES = 5_000_000;
/** The same of one of its vendors. */
export const MAX_VENDOR_BYTES = 16_000;
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?(?:;\s*)*$/i;

/** A JSON body as sent, and the problems of its text. */
export interface JsonBody {
  readonly value: unknown;
  readonly problems: readonly Violation[];
}

/**
 * Reads the JSON body of a request. If the text is not JSON or contradicts itself, the result lists these problems, so
 * that they are reported together with all others. Errors: unsupported_media_type, payload_too_large.
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const bytes = hasBody(request) ? await readBytes(request, MAX_BODY_BYTES) : undefined;
  if (!bytes?.length) return { value: undefined, problems: [{ path: "body", message: "must not be empty" }] };
  return parseJson(bytes);
}

/**
 * Reads the body of a job: its value has `VendorTexts` in the place of the array `vendors`. Problems of their texts are found when
 * they are parsed. Errors: as of `readJsonBody`.
 */
export async function readJobBody(request: IncomingMessage): Promise<JsonBody> {
  const bytes = hasBody(request) ? await readBytes(request, MAX_JOB_BYTES) : undefined;
  if (!bytes?.length) return { value: undefined, problems: [{ path: "body", message: "must not be empty" }] };
  const { envelope, vendors, isRepeated } = await cutVendors(bytes);
  if (envelope.length > MAX_BODY_BYTES) throw new ServiceError("payload_too_large");
  const { value, problems } = parseJson(envelope);
  const isCut = vendors && typeof value === "object" && value !== null;
  if (!isCut) return { value, problems };
  const others = problems.filter(({ path }) => path !== "vendors");
  const repeated = isRepeated ? [{ path: "vendors", message: "must be given only once" }] : [];
  return { value: { ...value, vendors }, problems: [...others, ...repeated] };
}

function hasBody(request: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": transferEncoding, "content-type": type } = request.headers;
  const isEmpty = transferEncoding === undefined && (length === undefined || length === "0");
  if (type === undefined && isEmpty) return false;
  if (type === undefined || !JSON_TYPE.test(type)) throw new ServiceError("unsupported_media_type");
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media_type", {
      message: "The body has a Content-Encoding. Send it without one.",
    });
  }
  return !isEmpty;
}

async function readBytes(request: IncomingMessage, max: number): Promise<Buffer> {
  if (Number(request.headers["content-length"]) > max) throw new ServiceError("payload_too_large");
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > max) break;
      chunks.push(chunk);
    }
  } catch {
    // The client has disconnected, so no one receives this answer.
    const message = "The body did not arrive completely. Send the request again.";
    throw new ServiceError("invalid_request", { message });
  }
  // The rest is read and discarded, so that the client receives the answer.
  request.resume();
  if (length > max) throw new ServiceError("payload_too_large");
  return Buffer.concat(chunks);
}

/** Parses a JSON text, which may be inside `levels` levels of a body. Its problems are listed with the value. */
export function parseJson(bytes: Buffer, levels = 0): JsonBody {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const problems = textProblems(text, levels);
    if (problems === TOO_DEEP) return { value: undefined, problems };
    cutArrays(value);
    return { value, problems };
  } catch {
    const message = bytes.toString("latin1").trim() === "" ? "must not be empty" : "must be valid JSON in UTF-8";
    return { value: undefined, problems: [{ path: "body", message }] };
  }
}

/** Cuts longer arrays to one entry more than the maximum: enough for a route to refuse them, and nothing reads the rest. */
function cutArrays(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value) && value.length > MAX_ENTRIES) value.length = MAX_ENTRIES + 1;
  for (const inner of Object.values(value)) cutArrays(inner);
}
