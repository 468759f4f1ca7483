import { eventually } from "@vvs/testing";
import { expectDocumented } from "../../services/gateway/src/testing/conformance.ts";

/** An answer of the REST API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Bodies have many shapes; tests assert what they expect.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent instead of the JSON of `body`. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Api {
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  request(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/**
 * Returns an API client that sends `key`, if there is one. It throws if an answer is not as documented, unless it `checks`
 * otherwise.
 */
export function createApi(baseUrl: string, key?: string, check: typeof expectDocumented = expectDocumented): Api {
  const request = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const sendsBody = options.body !== undefined || options.rawBody !== undefined;
    const response = await fetch(path.startsWith("http") ? path : `${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(sendsBody && { "content-type": "application/json" }),
        ...options.headers,
      },
      body: options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body)),
    });
    const text = await response.text();
    const isText = response.headers.get("content-type") === "application/jwt";
    const body = text === "" ? undefined : isText ? text : JSON.parse(text);
    const answer = { status: response.status, headers: response.headers, body };
    check(method, new URL(response.url).pathname, answer);
    return answer;
  };
  return {
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, body, options) => request("POST", path, { ...options, body }),
    patch: (path, body) => request("PATCH", path, { body }),
    delete: (path) => request("DELETE", path),
  };
}

/** Makes a call, and again while it is refused because too many calls of its organization wait: how many may depends on the machine. */
export const whenAdmitted = (call: () => Promise<Answer>): Promise<Answer> =>
  eventually(
    async () => {
      const answer = await call();
      return answer.status !== 429 && answer;
    },
    { everyMs: 1_000 },
  );
