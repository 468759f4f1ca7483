import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { listening } from "@vvs/testing";

/**
 * Receives traces over OTLP (HTTP, JSON) like a collector until the tests of the file are over, and appends each request to a
 * file, one per line. Returns its URL.
 */
export async function startOtlpReceiver(file: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await read(request);
    appendFileSync(file, `${body.toString("utf8")}\n`);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const body = await buffer(request);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}
