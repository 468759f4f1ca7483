import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import { errors } from "undici";
import { withoutBrackets } from "./address.ts";
import { AddressRefusedError, EgressProxyError } from "./errors.ts";

/** A proxy for all outgoing connections. It resolves names itself, so it must refuse private addresses. */
export interface EgressProxy {
  /** http: or https: URL, with user name and password if the proxy needs them. */
  readonly url: URL;
  /** PEM of further authorities to trust for an https: proxy. */
  readonly ca?: string;
}

/**
 * Asks the proxy for a connection to a host (CONNECT, RFC 9110 §9.3.6). Errors: EgressProxyError if the proxy is
 * unavailable, hangs up or fails itself; AddressRefusedError if it refuses the host; undici's ConnectTimeoutError if it
 * does not answer in time, or reports that the host did not; Error if it reports that it could not connect.
 */
export function openTunnel(
  proxy: EgressProxy,
  { host, port }: { host: string; port: number },
  timeoutMs: number,
): Promise<Duplex> {
  const { url } = proxy;
  const proxyHost = withoutBrackets(url.hostname);
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const opened = Promise.withResolvers<Duplex>();
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)({
    host: proxyHost,
    servername: isIP(proxyHost) ? "" : proxyHost, // else the Host header would name it
    port: url.port || undefined,
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...credentials(url) },
    agent: false,
    ca: proxy.ca,
  });
  let reached = false;
  request.once("socket", (socket) => {
    socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
      reached = true;
    });
  });
  const timer = setTimeout(() => {
    // A proxy that was reached waits for the host.
    opened.reject(reached ? new errors.ConnectTimeoutError() : new EgressProxyError("the egress proxy is unavailable"));
    request.destroy();
  }, timeoutMs);
  request.once("error", (cause) => opened.reject(new EgressProxyError("the egress proxy can't be used", { cause })));
  request.once("connect", (response: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = response.statusCode!;
    if (status >= 200 && status < 300) {
      if (head.length > 0) socket.unshift(head);
      opened.resolve(socket);
      return;
    }
    socket.on("error", () => undefined).destroy();
    opened.reject(refusal(status, response.headers));
  });
  request.end();
  return opened.promise.finally(() => clearTimeout(timer));
}

/**
 * Returns the error for a proxy's answer other than 2xx. 502 and 504 are about the host; so is Squid's 503 with its
 * header. 403 is a refusal of the host, and so is Smokescreen's 407 with its header. All others are faults of the
 * proxy.
 */
export function refusal(status: number, headers: IncomingHttpHeaders): Error {
  const isDenied = status === 403 || (status === 407 && headers["x-smokescreen-error"] !== undefined);
  if (isDenied) return new AddressRefusedError();
  if (status === 504) return new errors.ConnectTimeoutError();
  const isUnreachable = status === 502 || (status === 503 && headers["x-squid-error"] !== undefined);
  if (isUnreachable) return new Error("the egress proxy could not connect to the host");
  return new EgressProxyError(`the egress proxy answered ${status}`);
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(text).toString("base64")}` };
}
