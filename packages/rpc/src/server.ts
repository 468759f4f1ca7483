import type { DescService } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { Health } from "@vvs/proto/grpc/health/v1/health";
import { bindAddress, expectLoopback } from "./address.ts";
import { serverCredentials } from "./credentials.ts";
import { serviceDefinition, withEncodedReplies } from "./definition.ts";
import { type Implementation, implementationOf, type ServicePart } from "./handlers.ts";
import { createHealthService } from "./health.ts";

export interface ServeOptions<S extends DescService> extends Implementation<S> {
  /** More services of the same server, each made by `servicePart`. */
  readonly beside?: readonly ServicePart[];
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

export interface RpcServer {
  readonly port: number;
  /** Takes no new calls, lets running ones finish, and after `graceMs` ends those that do not, open streams above all. */
  close(graceMs?: number): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;

/**
 * Serves plain async functions as one or more gRPC services, beside grpc.health.v1. Errors: plaintext on an address that is not
 * loopback, certificates that can't be used, a port that is taken.
 */
export async function serveRpc<S extends DescService>(options: ServeOptions<S>): Promise<RpcServer> {
  if (!options.tls) expectLoopback(options.host);
  const server = new grpc.Server({
    // Clients reconnect now and then, and so find new pods and show new certificates.
    "grpc.max_connection_age_ms": 300_000,
    "grpc.max_connection_age_grace_ms": 30_000,
  });
  const parts = [options as ServicePart, ...(options.beside ?? [])];
  for (const part of parts) {
    const definition = serviceDefinition(part.service);
    server.addService(withEncodedReplies(definition), implementationOf({ ...options, ...part }, definition));
  }
  const health = createHealthService(parts.map(({ service }) => service.typeName));
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
