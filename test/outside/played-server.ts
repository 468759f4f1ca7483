import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { listening } from "@vvs/testing";

/** A call as it was received. */
export interface ReceivedCall {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface PlayedServer {
  /** http://127.0.0.1:<port> */
  readonly url: string;
  /** Every call so far. */
  readonly calls: readonly ReceivedCall[];
  /** Closes it before the end. */
  close(): Promise<void>;
}

/** Starts an HTTP server on a free local port, until the tests of the file are over; it records the calls that it receives. */
export async function playServer(
  answer: (call: ReceivedCall, response: ServerResponse) => void | Promise<void>,
): Promise<PlayedServer> {
  const calls: ReceivedCall[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const call = { method, url, headers, body: await text(request) };
    calls.push(call);
    await answer(call, response);
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}

/** Sends a body byte by byte, so slowly that no client waits for its end. */
export async function drip(response: ServerResponse, body: unknown): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  for (const byte of JSON.stringify(body)) {
    if (response.destroyed) return;
    response.write(byte);
    await wait(200);
  }
  response.end();
}

/** Sends half of a body and ends the connection. */
export function cut(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}
