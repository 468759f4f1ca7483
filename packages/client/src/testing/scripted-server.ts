import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, seen: Seen) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly Seen[];
}

/** Starts an HTTP server that gives these answers one after the other, and then repeats the last one. */
export async function startServer(...answers: readonly Answer[]): Promise<ScriptedServer> {
  const requests: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const seen = { method, url, headers, body: await textOf(request) };
    const answer = answers[Math.min(requests.length, answers.length - 1)]!;
    requests.push(seen);
    answer(response, seen);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) =>
    void response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Answers with text, as something before the service might. */
export function text(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(status, { "Content-Type": "text/html", ...headers }).end(body);
}

/** Closes the connection without an answer. */
export const dropped: Answer = (response) => void response.destroy();

/** Closes the connection in the middle of the body. */
export const truncated: Answer = (response) => {
  response.writeHead(200, { "Content-Length": "1000" });
  response.write('{"id":', () => response.destroy());
};

/** Never ends the body. */
export const endless: Answer = (response) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.write('{"id":');
};

/** Never answers. */
export const silent: Answer = () => undefined;
