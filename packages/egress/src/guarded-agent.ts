import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import { type AddressRule, addressRule, withoutBrackets } from "./address.ts";
import { AddressRefusedError } from "./errors.ts";
import type { ResolvedAddress } from "./names.ts";
import { type EgressProxy, openTunnel } from "./tunnel.ts";

/** Maximum age of a connection, so that a name's new address is noticed even while its connections are busy. */
const CONNECTION_MAX_AGE_MS = 60_000;

export interface GuardedAgentOptions extends AddressRule {
  readonly connectTimeoutMs: number;
  /** Maximum number of connections per origin. */
  readonly connectionsPerOrigin: number;
  /** Age after which one of several connections per origin gets no further request; 60 s if absent. */
  readonly connectionMaxAgeMs?: number;
  /** Resolves names. Not used with a proxy, which resolves names itself. */
  readonly resolveAll: (hostname: string) => Promise<ResolvedAddress[]>;
  /** Returns whether an address may be connected to; by the rule if absent. */
  readonly isAllowed?: (address: string) => boolean;
  /** PEM of further authorities to trust. */
  readonly ca?: string;
  /** Client certificate for servers that ask for one: PEM of the certificate with its chain, and of its key. */
  readonly identity?: { readonly cert: string; readonly key: string };
  /** Proxy for all connections; they are direct if absent. The proxy's own address may be private. */
  readonly proxy?: EgressProxy;
}

/**
 * Creates an agent that checks each address when it connects: literal addresses, and every address of a name after DNS.
 * It connects to exactly the checked addresses, so a name that changes its addresses can't bypass the check. The
 * certificate is still verified against the name. With a proxy it can check only literal addresses; the proxy must
 * check names. It uses only HTTP/1.1, so that a connection never carries more than one request at a time.
 */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  const { connectTimeoutMs, proxy, resolveAll, isAllowed = addressRule(options) } = options;
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(resolveAll, isAllowed),
    ca: options.ca,
    cert: options.identity?.cert,
    key: options.identity?.key,
    allowH2: false,
  });
  const reach = proxy ? throughProxy(proxy, connect, connectTimeoutMs) : connect;
  return new Agent({
    connections: options.connectionsPerOrigin,
    clientTtl: options.connectionMaxAgeMs ?? CONNECTION_MAX_AGE_MS,
    pipelining: 1,
    connect(target, callback) {
      const host = withoutBrackets(target.hostname);
      // There is no lookup for literal addresses, so they are checked here.
      if (isIP(host) !== 0 && !isAllowed(host)) {
        callback(new AddressRefusedError(), null);
        return;
      }
      reach(target, callback);
    },
  });
}

function throughProxy(
  proxy: EgressProxy,
  connect: buildConnector.connector,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    const isTls = target.protocol === "https:";
    const port = Number(target.port) || (isTls ? 443 : 80);
    openTunnel(proxy, { host: withoutBrackets(target.hostname), port }, timeoutMs).then(
      (stream) => {
        const socket = stream as Socket;
        if (isTls) connect({ ...target, httpSocket: socket }, callback);
        else callback(null, socket.setNoDelay(true));
      },
      (error: Error) => callback(error, null),
    );
  };
}

function guardedLookup(
  resolveAll: GuardedAgentOptions["resolveAll"],
  isAllowed: (address: string) => boolean,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname).then(
      (addresses) => {
        if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
          callback(new AddressRefusedError(), "");
        } else if (options.all) {
          callback(null, addresses);
        } else {
          callback(null, addresses[0]!.address, addresses[0]!.family);
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}
