import { lookup as resolve } from "node:dns/promises";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import { isPublicAddress } from "./address.ts";
import { AddressRefusedError } from "./errors.ts";
import { type EgressProxy, openTunnel } from "./tunnel.ts";

/** What we show to servers that ask who connects: PEM of a certificate, with its chain, and of its key. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

/** A name that moved, or was taken over, is noticed after so long, however busy its connections are. */
const CONNECTION_MAX_AGE_MS = 60_000;

export interface GuardedAgentOptions {
  /** Let connections go anywhere: for local runs alone. */
  readonly allowPrivateTargets: boolean;
  readonly connectTimeoutMs: number;
  /** Connections kept per origin. */
  readonly connectionsPerOrigin: number;
  /** After which a connection, of several per origin, is used for no further request; 60 s where absent. */
  readonly connectionMaxAgeMs?: number;
  /** How names are resolved; the system's way where absent. Not used with a proxy, which resolves them itself. */
  readonly resolveAll?: (hostname: string) => Promise<{ address: string; family: number }[]>;
  /** Which addresses may be connected to; isPublicAddress where absent. */
  readonly isAllowed?: (address: string) => boolean;
  /** Further authorities to trust, as PEM. */
  readonly ca?: string;
  readonly identity?: ClientIdentity;
  /** The only way out; without it connections are made directly. The proxy's own address may be private. */
  readonly proxy?: EgressProxy;
}

/**
 * An agent that checks each address when it connects, after DNS: literals, and every address that a name resolves to.
 * The checked addresses are the ones connected to, so that a name which changes its answer gains nothing. The
 * certificate is still verified against the name. Behind a proxy it sees literals alone: there the proxy must check.
 * Speaks HTTP/1.1 alone, so that a connection never carries more than one request.
 */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  const { allowPrivateTargets, connectTimeoutMs, proxy, isAllowed = isPublicAddress } = options;
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: allowPrivateTargets ? undefined : guardedLookup(options.resolveAll ?? systemResolve, isAllowed),
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
      const host = bare(target.hostname);
      // For literals no lookup is made, so they are checked here.
      if (!allowPrivateTargets && isIP(host) !== 0 && !isAllowed(host)) {
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
    openTunnel(proxy, { host: bare(target.hostname), port }, timeoutMs).then(
      (stream) => {
        const socket = stream as Socket;
        if (isTls) connect({ ...target, httpSocket: socket }, callback);
        else callback(null, socket.setNoDelay(true));
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** Without the brackets around IPv6. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function systemResolve(hostname: string): Promise<{ address: string; family: number }[]> {
  return resolve(hostname, { all: true });
}

function guardedLookup(
  resolveAll: NonNullable<GuardedAgentOptions["resolveAll"]>,
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
