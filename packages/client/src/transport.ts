import { ApiError, ConnectionError, TimeoutError, type VendorVerificationError } from "./errors.ts";
import { type Failure, mayRepeat, type Repeatable, readRetryAfter, retryWaitMs } from "./retry.ts";
import { VERSION } from "./version.ts";

/** Settings of the client that a call can override. */
export interface Limits {
  /** Maximum duration of one attempt, its answer's body included, in milliseconds. 30,000 by default. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Maximum duration of a call, all attempts and waits included, in milliseconds. 120,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of attempts of a call. 4 by default; 1 turns retries off. */
  readonly maxAttempts?: number | undefined;
}

export interface CallOptions extends Limits {
  /** Ends the call: it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer as it arrived, for logs and metrics. */
export interface ResponseInfo {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
}

export interface TransportOptions extends Limits {
  /** Address of the service, such as https://api.example.com. */
  readonly baseUrl: string;
  /** svc_live_… or svc_test_… */
  readonly apiKey: string;
  /** Added to the User-Agent, such as `acme-procurement/2.1`. */
  readonly userAgent?: string | undefined;
  /** Called for each answer, also for those that are retried. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
  /** Replaces the global fetch, for example to use a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: object | undefined;
  /** Media type of an answer that is a text; JSON where absent. */
  readonly text?: "application/jwt";
  /** Which failed attempts may be repeated; where absent, all that may pass. */
  readonly repeatable?: Repeatable;
  readonly idempotencyKey?: string | undefined;
}

type Attempt = { readonly value: unknown } | { readonly error: VendorVerificationError; readonly failure: Failure };

export const DEFAULT_LIMITS = { attemptTimeoutMs: 30_000, timeoutMs: 120_000, maxAttempts: 4 };

export type Transport = <T>(operation: Operation, options?: CallOptions) => Promise<T>;

/** Returns the function that makes all calls: it authenticates, retries what is safe to retry, and keeps to the limits. */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, onResponse } = options;
  const baseUrl = readBaseUrl(options.baseUrl);
  if (!apiKey) throw new TypeError("apiKey is missing");
  const userAgent = [options.userAgent, `vendor-verification-client/${VERSION}`].filter(Boolean).join(" ");

  /** Makes one attempt. Throws only the reason of the caller's signal. */
  async function attempt(
    operation: Operation,
    { number, timeoutMs, signal }: { number: number; timeoutMs: number; signal: AbortSignal | undefined },
  ): Promise<Attempt> {
    const { method, idempotencyKey } = operation;
    const path = operation.path + queryString(operation.query);
    const timeout = AbortSignal.timeout(timeoutMs);
    const init = {
      method,
      redirect: "manual" as const,
      headers: {
        accept: [operation.text, "application/json"].filter(Boolean).join(", "),
        authorization: `Bearer ${apiKey}`,
        "user-agent": userAgent,
        ...(operation.body && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      ...(operation.body && { body: JSON.stringify(operation.body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    };
    const fails = (error: VendorVerificationError, failure: Failure = {}) => ({ error, failure });
    let response: Response;
    let text: string;
    try {
      response = await (options.fetch ?? fetch)(baseUrl + path, init);
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      if (timeout.aborted) {
        return fails(new TimeoutError(`No answer from ${baseUrl} within ${timeoutMs} ms.`, { idempotencyKey, cause }));
      }
      return fails(new ConnectionError(`No answer from ${baseUrl}: ${reasonOf(cause)}.`, { idempotencyKey, cause }));
    }
    const { status, headers, ok } = response;
    onResponse?.({ method, path, status, headers, attempt: number });
    if (ok && operation.text) return { value: text };
    const body = parseJson(text);
    if (ok && body !== undefined) return { value: body };
    if (ok) return fails(new ConnectionError(`The answer from ${baseUrl} is not JSON.`, { idempotencyKey }));
    const retryAfterSeconds = readRetryAfter(headers.get("retry-after"), new Date());
    const error = new ApiError({ status, headers, body, retryAfterSeconds, idempotencyKey });
    return fails(error, error);
  }

  return async <T>(operation: Operation, callOptions: CallOptions = {}): Promise<T> => {
    const limits = { ...DEFAULT_LIMITS, ...defined(options), ...defined(callOptions) };
    const { signal } = callOptions;
    const endsAt = performance.now() + limits.timeoutMs;
    for (let number = 1; ; number++) {
      signal?.throwIfAborted();
      const timeoutMs = Math.ceil(Math.max(1, Math.min(limits.attemptTimeoutMs, endsAt - performance.now())));
      const result = await attempt(operation, { number, timeoutMs, signal });
      if ("value" in result) return result.value as T;
      if (number >= limits.maxAttempts || !mayRepeat(operation.repeatable ?? "always", result.failure))
        throw result.error;
      const waitMs = retryWaitMs(number, result.failure, Math.random);
      if (performance.now() + waitMs >= endsAt) throw result.error;
      await pause(waitMs, signal);
    }
  };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new TypeError("baseUrl must be an http or https URL without user name, query and fragment");
  }
  return url.href.replace(/\/+$/, "");
}

function queryString(query: Operation["query"] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the limits that are given, so that they do not override others with undefined. */
function defined({ attemptTimeoutMs, timeoutMs, maxAttempts }: Limits): Partial<typeof DEFAULT_LIMITS> {
  return {
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxAttempts !== undefined && { maxAttempts }),
  };
}

/** fetch hides the system's error, such as ECONNREFUSED, in the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? String(error);
}

/** Waits. Throws the reason of the signal when it is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
