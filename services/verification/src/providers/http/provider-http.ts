import { constants } from "node:crypto";
import { Agent, buildConnector, type Dispatcher, request } from "undici";
import { ProviderError } from "../provider.ts";

/** Maximum size of an answer, in bytes; these APIs give no longer ones. */
const MAX_BYTES = 1_048_576;
const CONNECT_TIMEOUT_MS = 5_000;

export interface ProviderCall {
  readonly method: "GET" | "POST";
  /** Must hold no key and no TIN, since others may log it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the call, also while its body is being read. */
  readonly signal: AbortSignal;
  /** Maximum size of the answer, in bytes; 1 MiB where absent. */
  readonly maxBytes?: number;
}

/** An answer as it was received, whatever its status. */
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

/**
 * Creates pooled connections to providers. `legacyTls` also accepts servers without secure TLS renegotiation;
 * SAM.gov's have been known to lack it.
 */
export function createProviderHttp(options: {
  /** Maximum number of connections per origin. */
  connections: number;
  userAgent: string;
  legacyTls?: boolean;
}): ProviderHttp {
  const agent = new Agent({
    connections: options.connections,
    pipelining: 1,
    connect: buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      secureOptions: options.legacyTls ? constants.SSL_OP_LEGACY_SERVER_CONNECT : undefined,
    }),
  });
  return {
    async call({ method, url, headers, body, signal, maxBytes = MAX_BYTES }) {
      try {
        const response = await request(url, {
          method,
          headers: { "user-agent": options.userAgent, "accept-encoding": "identity", ...headers },
          body,
          signal,
          dispatcher: agent,
        });
        return {
          status: response.statusCode,
          headers: response.headers,
          text: await readAll(response.body, maxBytes),
          contentType: firstOf(response.headers["content-type"]),
        };
      } catch (cause) {
        if (cause instanceof ProviderError) throw cause;
        throw new ProviderError(signal.aborted ? "timeout" : faultOf(cause), { cause });
      }
    },
    close: () => agent.destroy(),
  };
}

/** Returns a 2xx response. Errors: ProviderError `http_<status>` for any other. */
export function requireOk(response: ProviderResponse): ProviderResponse {
  if (response.status >= 200 && response.status < 300) return response;
  throw new ProviderError(`http_${response.status}`);
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

async function readAll(body: Dispatcher.ResponseData["body"], maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new ProviderError("too_large"); // leaving the loop ends the connection
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function firstOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? "";
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
