import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type PlayedServer, playServer, type ReceivedCall } from "./played-server.ts";

/** Ways in which the server can fail. */
export type S3Misbehaviour = "500" | "silent" | "cut" | "no_bucket";

/** A simulated S3-compatible store with one bucket, addressed by path: PUT, GET, HEAD and DELETE of objects. */
export interface PlayedS3 extends Pick<PlayedServer, "url" | "calls"> {
  readonly bucket: string;
  /** Stored objects by key; tests may change them. */
  readonly objects: Map<string, string>;
  /** Sets how the store fails; undefined: it works. */
  misbehave(how: S3Misbehaviour | undefined): void;
}

export async function playS3(bucket = "evidence"): Promise<PlayedS3> {
  const objects = new Map<string, string>();
  let misbehaviour: S3Misbehaviour | undefined;

  const server = await playServer((call, response) => {
    if (misbehaviour === "silent") return;
    if (misbehaviour === "500") return sendError(response, 500, "InternalError");
    if (misbehaviour === "no_bucket") return sendError(response, 404, "NoSuchBucket");
    if (!isSigned(call)) return sendError(response, 403, "AccessDenied");
    const [, named, ...path] = new URL(call.url, "http://s3").pathname.split("/").map(decodeURIComponent);
    if (named !== bucket) return sendError(response, 404, "NoSuchBucket");
    serve(call, path.join("/"), response);
  });

  function serve({ method, body }: ReceivedCall, key: string, response: ServerResponse): void {
    if (method === "PUT") {
      objects.set(key, body);
      response.writeHead(200, { etag: '"e"' }).end();
      return;
    }
    if (method === "DELETE") {
      objects.delete(key);
      response.writeHead(204).end();
      return;
    }
    const content = objects.get(key);
    if (content === undefined) {
      sendError(response, 404, "NoSuchKey");
      return;
    }
    response.writeHead(200, { "content-length": Buffer.byteLength(content), etag: '"e"' });
    if (misbehaviour === "cut") response.write(content.slice(0, content.length / 2), () => response.destroy());
    else response.end(method === "HEAD" ? undefined : content);
  }

  return {
    url: server.url,
    calls: server.calls,
    bucket,
    objects,
    misbehave(how) {
      misbehaviour = how;
    },
  };
}

/** Returns whether a call has a signature (version 4) with a date and the hash of its body. */
function isSigned({ headers, body }: ReceivedCall): boolean {
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/[^/]+\/s3\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/;
  return (
    authorization.test(headers.authorization ?? "") &&
    headers["x-amz-date"] !== undefined &&
    headers["x-amz-content-sha256"] === createHash("sha256").update(body).digest("hex")
  );
}

function sendError(response: ServerResponse, status: number, code: string): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml" }).end(xml);
}
