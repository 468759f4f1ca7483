import { AddressRefusedError, EgressProxyError } from "@vvs/egress";
import type { Dispatcher } from "undici";
import type { AttemptError } from "../model/delivery.ts";
import type { Connections, Destination } from "./connections.ts";

/** Maximum number of bytes read of an answer. */
const ANSWER_BYTES = 16_384;
/** Maximum length of the excerpt that is kept for the dashboard. */
const EXCERPT_CHARACTERS = 1_024;
/** How often stuck attempts are looked for, in milliseconds: one timer for all costs less than one for each. */
const LATE_CHECK_MS = 50;

/** The parts of a URL that a POST needs. */
export type UrlParts = Pick<URL, "origin" | "hostname" | "pathname" | "search">;

/** How a POST ended. */
export interface PostResult {
  readonly statusCode?: number;
  /** Absent when it was delivered: a 2xx with a body that was read in time. */
  readonly error?: AttemptError;
  /** The fault of ours because of which nothing was sent. */
  readonly ourFault?: Error;
  readonly retryAfter?: string;
  readonly excerpt: string;
}

export type Poster = ReturnType<typeof createPoster>;

/** Makes POSTs that end within `timeoutMs`, the answer's body included, whatever the other side does. */
export function createPoster(options: { connections: Pick<Connections, "to">; timeoutMs: number }) {
  const { connections, timeoutMs } = options;
  // A set keeps the order of insertion: the oldest comes first.
  const inFlight = new Set<Exchange>();

  const timer = setInterval(() => {
    const before = performance.now() - timeoutMs;
    for (const exchange of inFlight) {
      if (exchange.startedAt > before) return;
      exchange.end("timeout");
    }
  }, LATE_CHECK_MS);
  timer.unref();

  return {
    /** POSTs once, follows no redirect, reads a bounded part of the answer. Never throws: a failure is a result. */
    post(
      request: Omit<Destination, "hostname"> & {
        url: UrlParts;
        headers: Readonly<Record<string, string>>;
        body: string;
      },
    ): Promise<PostResult> {
      const { url, headers, body } = request;
      return new Promise((resolve) => {
        const exchange = createExchange((result) => {
          inFlight.delete(exchange);
          resolve(result);
        });
        inFlight.add(exchange);
        connections
          .to({ ...request, hostname: url.hostname })
          .then((dispatcher) => {
            if (exchange.hasEnded()) return;
            const path = url.pathname + url.search;
            dispatcher.dispatch({ origin: url.origin, path, method: "POST", headers, body }, exchange.handler);
          })
          .catch(exchange.fail);
      });
    },
    close: () => clearInterval(timer),
  };
}

type Exchange = ReturnType<typeof createExchange>;

function createExchange(settle: (result: PostResult) => void) {
  let controller: Dispatcher.DispatchController | undefined;
  let ended = false;
  let statusCode: number | undefined;
  let retryAfter: string | undefined;
  const chunks: Buffer[] = [];
  let size = 0;

  function finish(how: { error?: AttemptError; ourFault?: Error }): void {
    if (ended) return;
    ended = true;
    const read = Buffer.concat(chunks).subarray(0, ANSWER_BYTES);
    settle({ ...how, statusCode, retryAfter, excerpt: read.toString("utf8").slice(0, EXCERPT_CHARACTERS) });
  }

  /** Ends the exchange and its connection now. */
  function end(error: AttemptError | undefined): void {
    finish({ error });
    controller?.abort(new Error("no more of the answer is read"));
  }

  const byStatus = (): AttemptError | undefined =>
    statusCode! >= 200 && statusCode! < 300 ? undefined : "http_status";
  const fail = (error: unknown) => finish(isOurs(error) ? { ourFault: error } : { error: errorClass(error) });

  return {
    startedAt: performance.now(),
    end,
    fail,
    hasEnded: () => ended,
    handler: {
      onRequestStart(itsController) {
        controller = itsController;
        if (ended) controller.abort(new Error("the connection came too late"));
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        statusCode = status;
        retryAfter = [headers["retry-after"]].flat()[0];
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= ANSWER_BYTES) end(byStatus());
      },
      onResponseEnd: () => finish({ error: byStatus() }),
      // Even after a status of 200: whoever closed the connection may not have kept the event.
      onResponseError: (_controller, error) => fail(error),
    } satisfies Dispatcher.DispatchHandler,
  };
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;
/** This machine has no file, memory or port left to open a connection. */
const OUR_CODES = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"]);

function isOurs(error: unknown): error is Error {
  return causesOf(error).some((fault) => fault instanceof EgressProxyError || OUR_CODES.has(codeOf(fault)));
}

/** Returns the class of an error, also where libraries wrapped it as a cause. */
function errorClass(error: unknown): AttemptError {
  for (const fault of causesOf(error)) {
    if (fault instanceof AddressRefusedError) return "address_refused";
    if (TLS_CODES.test(codeOf(fault))) return "tls";
    if (codeOf(fault) === "UND_ERR_CONNECT_TIMEOUT") return "timeout";
  }
  return "connection";
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function codeOf(fault: Error): string {
  return String((fault as NodeJS.ErrnoException).code ?? "");
}
