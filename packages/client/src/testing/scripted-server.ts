import type { ServerResponse } from "node:http";
import { playServer, type ReceivedCall } from "../../../../test/outside/played-server.ts";

export type Answer = (response: ServerResponse) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedCall[];
}

/** Starts an HTTP server that gives these answers one after the other, and then repeats the last one. */
export async function startServer(...answers: readonly Answer[]): Promise<ScriptedServer> {
  let given = 0;
  const { url, calls, close } = await playServer((_call, response) => {
    answers[Math.min(given++, answers.length - 1)]!(response);
  });
  return { url, requests: calls, [Symbol.asyncDispose]: close };
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
