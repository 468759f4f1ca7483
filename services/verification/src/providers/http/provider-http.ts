import { constants } from "node:crypto";
import { Agent, buildConnector, type Dispatcher, request } from "undici";
import type { z } from "zod";
import { ProviderError } from "../provider.ts";

/** Maximum size of an answer, in bytes; these APIs give no longer ones. */
const MAX_BYTES = 1_048_576;
const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum number of connections per origin, without those for slow runs. */
const CONNECTIONS = 16;
const USER_AGENT = "vendor-verification-service";

export interface ProviderCall {
  readonly method: "GET" | "POST";
  /** Must hold no key and no TIN, since others may log it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the call, also while its body is being read. */
  readonly signal: AbortSignal;
}

/** An answer as it was received, with any status. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Empty where the answer has none. */
  readonly contentType: string;
}

/** Makes HTTP calls to providers. */
export interface ProviderHttp {
  /** Makes one call; follows no redirect. Errors: ProviderError `timeout`, `connection`, `tls`, `too_large`. */
  call(call: ProviderCall): Promise<ProviderResponse>;
  /** Aborts the calls in flight and closes the connections. */
  close(): Promise<void>;
}

/** Creates pooled connections to one provider. */
export function createProviderHttp(
  options: {
    /** Accepts servers without secure TLS renegotiation; SAM.gov's have been known to lack it. */
    legacyTls?: boolean;
    /**
     * Number of monitors' runs that may each wait seconds for an answer at the same time. They get connections in
     * addition, so that neither they nor other calls use up their time while they wait for a connection. 0 where absent.
     */
    slowRuns?: number;
  } = {},
): ProviderHttp {
  const secureOptions = options.legacyTls ? constants.SSL_OP_LEGACY_SERVER_CONNECT : undefined;
  const agent = new Agent({
    connections: CONNECTIONS + (options.slowRuns ?? 0),
    pipelining: 1,
    connect: buildConnector({ timeout: CONNECT_TIMEOUT_MS, secureOptions }),
  });
  return {
    async call({ method, url, headers, body, signal }) {
      try {
        const response = await request(url, {
          method,
          headers: { "user-agent": USER_AGENT, "accept-encoding": "identity", ...headers },
          body,
          signal,
          dispatcher: agent,
        });
        return {
          status: response.statusCode,
          headers: response.headers,
          text: await readAll(response.body),
          contentType: [response.headers["content-type"]].flat()[0] ?? "",
        };
      } catch (cause) {
        if (cause instanceof ProviderError) throw cause;
        throw new ProviderError(signal.aborted ? "timeout" : faultOf(cause), { cause });
      }
    },
    close: () => agent.destroy(),
  };
}

/** Returns true for a status by which a provider says that it can't answer about an input. */
export function isInputFault(status: number): boolean {
  return status === 400 || status === 404 || status === 422;
}

/**
 * Returns the 2xx response of a call that carried a question's input. Errors: ProviderError `http_<status>` for any other; of
 * 400, 404 and 422 it is the input's fault.
 */
export function requireAnswered(response: ProviderResponse): ProviderResponse {
  return requireStatus(response, { isInputFault: isInputFault(response.status) });
}

/** Returns the 2xx response of a call that carried no input. Errors: ProviderError `http_<status>` for any other, a fault. */
export function requireOk(response: ProviderResponse): ProviderResponse {
  return requireStatus(response, {});
}

function requireStatus(response: ProviderResponse, fault: { isInputFault?: boolean }): ProviderResponse {
  if (response.status >= 200 && response.status < 300) return response;
  throw new ProviderError(`http_${response.status}`, fault);
}

/** Parses a JSON response. Errors: ProviderError `wrong_content_type`, `wrong_shape`. */
export function parseJsonAnswer({ contentType, text }: ProviderResponse): unknown {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) throw new ProviderError("wrong_content_type");
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error quotes the text, so it is not kept as the cause.
    throw new ProviderError("wrong_shape");
  }
}

/** Parses a value, and ignores members that the shape does not name. Errors: ProviderError `wrong_shape`. */
export function readShape<S extends z.ZodType>(shape: S, value: unknown): z.output<S> {
  const read = shape.safeParse(value);
  // The parser's error would quote the value.
  if (!read.success) throw new ProviderError("wrong_shape");
  return read.data;
}

async function readAll(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new ProviderError("too_large"); // leaving the loop ends the connection
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Classifies a failed call by its error and that error's causes, since libraries wrap them. */
function faultOf(error: unknown): "timeout" | "tls" | "connection" {
  for (let fault = error as NodeJS.ErrnoException | undefined; fault; fault = fault.cause as typeof fault) {
    const code = String(fault.code ?? "");
    if (code === "UND_ERR_CONNECT_TIMEOUT") return "timeout";
    if (TLS_CODES.test(code)) return "tls";
  }
  return "connection";
}
