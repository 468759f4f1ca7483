import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Request, Response } from "express";

/** An answer that is the same for everyone and is made once. */
export interface Prepared {
  readonly body: Buffer;
  readonly gzipped: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes an answer. Clients may keep it, but must ask with its ETag whether it is current. */
export function prepare(body: string, contentType: string, headers: Readonly<Record<string, string>> = {}): Prepared {
  const bytes = Buffer.from(body, "utf8");
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  return {
    body: bytes,
    gzipped: gzipSync(bytes, { level: 9 }),
    headers: {
      "Content-Type": contentType,
      "Cache-Control": "public, no-cache",
      // The same for both encodings, hence weak.
      ETag: `W/"${hash}"`,
      Vary: "Accept-Encoding",
      ...headers,
    },
  };
}

/** Answers with a prepared body, gzipped where the client accepts that; 304 without a body where it has it already. */
export function answerPrepared(request: Request, response: Response, prepared: Prepared): void {
  const { "if-none-match": known = "" } = request.headers;
  const { ETag: tag = "", "Content-Type": contentType, ...headers } = prepared.headers;
  if (known.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag.slice(2))) {
    response.writeHead(304, { ...headers, ETag: tag }).end();
    return;
  }
  const isGzip = request.acceptsEncodings("gzip", "identity") === "gzip";
  const body = isGzip ? prepared.gzipped : prepared.body;
  response.writeHead(200, {
    ...headers,
    ETag: tag,
    "Content-Type": contentType,
    "Content-Length": body.length,
    ...(isGzip && { "Content-Encoding": "gzip" }),
  });
  response.end(body);
}
