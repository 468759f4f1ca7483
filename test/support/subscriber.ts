import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { eventually, listening } from "@vvs/testing";

/** A POST that a subscriber received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Byte for byte. */
  readonly body: string;
  readonly at: Date;
}

export interface Subscriber {
  readonly url: string;
  readonly received: readonly Received[];
  /** Waits for a POST that `fits`, any by default. */
  waitForPost(fits?: (received: Received) => boolean, timeoutMs?: number): Promise<Received>;
  /** Closes it before the end. */
  close(): void;
}

/** Name or address at which the product reaches this machine, if it runs on another one. */
const { SUBSCRIBER_HOST } = process.env;

/** Starts an HTTP server that acts as a webhook subscriber until the tests of the file are over; it answers 200 by default. */
export async function startSubscriber(
  answer: (received: Received, response: ServerResponse) => void = (_received, response) => void response.end("ok"),
): Promise<Subscriber> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const post = { path: request.url ?? "", headers: request.headers, body, at: new Date() };
    received.push(post);
    answer(post, response);
  });
  const port = await listening(server, SUBSCRIBER_HOST && "0.0.0.0");
  return {
    url: `http://${SUBSCRIBER_HOST ?? "127.0.0.1"}:${port}/hook`,
    received,
    waitForPost: (fits = () => true, timeoutMs = 60_000) => eventually(() => received.find(fits), { timeoutMs }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
