import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import type { Logger } from "@vvs/logging";
import { channelTarget, expectLoopback, expectName, hostOf } from "./address.ts";
import { CALLER_METADATA, channelCredentials, type TlsFiles } from "./credentials.ts";
import { deadlineFor } from "./deadline.ts";
import { serviceDefinition } from "./definition.ts";
import { fromStatus } from "./errors.ts";
import { recordClientCall } from "./instrumentation.ts";

export interface CallOptions {
  /**
   * How long the call may take, less where the call it serves has a nearer deadline. Where absent: 5 s for one answer,
   * for ever for a stream.
   */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

type Method<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
      : never;

/** A service's methods as async functions that throw ServiceError alone. */
export type Client<S extends DescService> = { [K in keyof S["method"]]: Method<S["method"][K]> } & {
  close(): void;
  /** Is there a connection now? Opens one where there is none, so that asking now and then keeps the answer true. */
  isConnected(): boolean;
};

export interface ClientOptions {
  /** host:port; a name with several addresses is spread over all of them. */
  readonly address: string;
  /** Who calls; what certificates say instead where there are any. */
  readonly caller: string;
  readonly tls: TlsFiles | undefined;
  /** Told of certificates that can't be reloaded; give it where no server of the process tells it already. */
  readonly logger?: Logger;
}

const DEFAULT_TIMEOUT_MS = 5_000;
/** By what a method is called: one that only reads, or finds or makes the same whoever asks how often, may be asked twice. */
const READS = /^(Get|List|Count|LookUp|Resolve)/;
const CHANNEL_OPTIONS: grpc.ClientOptions = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // A service that restarts is found again at once, not after grpc-js's default of up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Nor is a pod that got another address asked for in DNS only after 30 s.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
};

/**
 * Calls are spread over all addresses. One that reads is made again, within its deadline, where its server went away
 * under it: what a server refuses by itself says that it must not be (errors.ts).
 */
function serviceConfig(service: DescService): string {
  const reads = service.methods.filter(({ name, methodKind }) => methodKind === "unary" && READS.test(name));
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: "0.05s",
    maxBackoff: "0.5s",
    backoffMultiplier: 3,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  return JSON.stringify({
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: [{ name: reads.map(({ name: method }) => ({ service: service.typeName, method })), retryPolicy }],
    // With nobody there, nearly all calls fail at once instead of three times.
    retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
  });
}

/**
 * Calls a gRPC service through async functions, with a deadline on every call. Errors: plaintext to a host that is not
 * loopback, certificates that can't be used, or an IP address with them.
 */
export function createClient<S extends DescService>(service: S, options: ClientOptions): Client<S> {
  const host = hostOf(options.address);
  if (options.tls) expectName(host);
  else expectLoopback(host);
  const credentials = channelCredentials(options.tls, options.logger);
  const channel = new grpc.Client(channelTarget(options.address), credentials, {
    ...CHANNEL_OPTIONS,
    "grpc.service_config": serviceConfig(service),
  });
  const definition = serviceDefinition(service);
  const methods: Record<string, unknown> = {
    close: () => channel.close(),
    isConnected: () => channel.getChannel().getConnectivityState(true) === grpc.connectivityState.READY,
  };
  for (const method of service.methods) {
    const rpc = {
      channel,
      method,
      codec: definition[method.localName]!,
      name: `${service.typeName}/${method.name}`,
      caller: options.caller,
    };
    methods[method.localName] = method.methodKind === "server_streaming" ? streamCall(rpc) : unaryCall(rpc);
  }
  return methods as Client<S>;
}

interface Rpc {
  readonly channel: grpc.Client;
  readonly method: DescService["methods"][number];
  readonly codec: grpc.MethodDefinition<unknown, unknown>;
  readonly name: string;
  readonly caller: string;
}

function unaryCall({ channel, method, codec, name, caller }: Rpc) {
  return (request: MessageInitShape<DescMessage>, options: CallOptions = {}) => {
    const metadata = metadataOf(caller);
    const record = recordClientCall(name, metadata);
    return record.run(
      () =>
        new Promise((resolve, reject) => {
          const call = channel.makeUnaryRequest(
            codec.path,
            codec.requestSerialize,
            codec.responseDeserialize,
            create(method.input, request),
            metadata,
            { deadline: deadlineFor(options.timeoutMs ?? DEFAULT_TIMEOUT_MS) },
            (error, reply) => {
              record.finish(error?.code ?? grpc.status.OK);
              if (error) reject(fromStatus(error));
              else resolve(reply);
            },
          );
          cancelOn(options.signal, call);
        }),
    );
  };
}

function streamCall({ channel, method, codec, name, caller }: Rpc) {
  return async function* (request: MessageInitShape<DescMessage>, options: CallOptions = {}) {
    const metadata = metadataOf(caller);
    const record = recordClientCall(name, metadata);
    const call = record.run(() =>
      channel.makeServerStreamRequest(
        codec.path,
        codec.requestSerialize,
        codec.responseDeserialize,
        create(method.input, request),
        metadata,
        { deadline: deadlineFor(options.timeoutMs ?? Number.POSITIVE_INFINITY) },
      ),
    );
    cancelOn(options.signal, call);
    let status = grpc.status.OK;
    try {
      yield* call;
    } catch (error) {
      status = (error as grpc.ServiceError).code ?? grpc.status.UNKNOWN;
      throw fromStatus(error);
    } finally {
      call.cancel(); // leaving the loop early must stop the server; on a finished call this does nothing
      record.finish(status);
    }
  };
}

function metadataOf(caller: string): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set(CALLER_METADATA, caller);
  return metadata;
}

function cancelOn(
  signal: AbortSignal | undefined,
  call: { cancel(): void; once(event: string, listener: () => void): unknown },
): void {
  if (!signal) return;
  const cancel = () => call.cancel();
  if (signal.aborted) {
    cancel();
    return;
  }
  signal.addEventListener("abort", cancel, { once: true });
  call.once("status", () => signal.removeEventListener("abort", cancel));
}
