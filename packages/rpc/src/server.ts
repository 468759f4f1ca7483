import type { DescService } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { Health } from "@vvs/proto/grpc/health/v1/health";
import { bindAddress, expectLoopback } from "./address.ts";
import { serverCredentials } from "./credentials.ts";
import { serviceDefinition, withEncodedReplies } from "./definition.ts";
import { type Implementation, implementationOf, type ServicePart } from "./handlers.ts";
import { createHealthService } from "./health.ts";
import { type Ping, startPings } from "./pings.ts";

export interface ServeOptions<S extends DescService> extends Implementation<S> {
  /** More services of the same server, each created by `servicePart`. */
  readonly beside?: readonly ServicePart[];
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** While it fails, grpc.health.v1 answers NOT_SERVING within about four seconds; calls are still taken. */
  readonly ping?: Ping;
}

export interface RpcServer {
  readonly port: number;
  /**
   * Takes no new calls, lets running ones finish, and ends the rest after `graceMs` (10 s where absent), such as open
   * streams.
   */
  close(graceMs?: number): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;

/**
 * Serves plain async functions as one or more gRPC services, together with grpc.health.v1. Errors: plaintext on an
 * address that is not loopback, certificates that can't be used, a port in use.
 */
export async function serveRpc<S extends DescService>(options: ServeOptions<S>): Promise<RpcServer> {
  if (!options.tls) expectLoopback(options.host);
  const server = new grpc.Server({
    // Clients reconnect from time to time, so that they find new pods and use new certificates.
    "grpc.max_connection_age_ms": 300_000,
    "grpc.max_connection_age_grace_ms": 30_000,
  });
  const { tls, logger, translate, admit } = options;
  const parts = [options as unknown as ServicePart, ...(options.beside ?? [])];
  for (const { service, handlers, callers, unqueued, maxBegun } of parts) {
    const definition = serviceDefinition(service);
    const implementation = { service, handlers, callers, unqueued, maxBegun, tls, logger, translate, admit };
    server.addService(withEncodedReplies(definition), implementationOf(implementation, definition));
  }
  const pings = options.ping && startPings(options.ping, options.logger);
  const canServe = () => pings?.recent() ?? true;
  const health = createHealthService(
    parts.map(({ service }) => service.typeName),
    canServe,
  );
  server.addService(serviceDefinition(Health), health.implementation);
  const credentials = serverCredentials(options.tls, options.logger);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(bindAddress(options.host, options.port), credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    port,
    close(graceMs = DEFAULT_GRACE_MS) {
      pings?.stop();
      health.stop();
      return closeServer(server, graceMs);
    },
  };
}

function closeServer(server: grpc.Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
