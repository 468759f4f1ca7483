import { setTimeout as delay } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { outside } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "@vvs/proto/grpc/health/v1/health";
import { expectLoopback, expectName, hostOf } from "./address.ts";
import type { TlsFiles } from "./certificates.ts";
import { CALLER_METADATA, channelCredentials } from "./credentials.ts";
import { deadlineFor } from "./deadline.ts";
import { serviceDefinition } from "./definition.ts";
import { fromStatus, isUnanswered } from "./errors.ts";
import { recordClientCall } from "./instrumentation.ts";

export interface CallOptions {
  /**
   * Maximum duration of the call, in milliseconds; an earlier deadline of the call being served applies as well. Where
   * absent: 5 s for a unary call, no limit for a stream.
   */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Whether a unary call fails immediately if it finds no connection, for callers that can go on without an answer. */
  readonly failsFast?: boolean;
}

type Method<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
      : never;

/** A service's methods as async functions that throw only ServiceError. */
export type Client<S extends DescService> = { [K in keyof S["method"]]: Method<S["method"][K]> } & {
  close(): void;
  /** Returns whether a server answers that it can serve. Never fails; connects if there is no connection. */
  isServing(): Promise<boolean>;
};

export interface ClientOptions {
  /** host:port. If the name has several addresses, calls are spread over all of them. */
  readonly address: string;
  /** Name of the calling service. With certificates, the certificate's name counts instead. */
  readonly caller: string;
  readonly tls: TlsFiles | undefined;
  /** Logs certificates that can't be reloaded; leave it out if a server of the process logs them already. */
  readonly logger?: Logger;
}

const DEFAULT_TIMEOUT_MS = 5_000;
const HEALTH_TIMEOUT_MS = 1_000;
/**
 * How often a call is made that finds no connection, and the pause between, in milliseconds. When the only known server
 * ends, another one is found in DNS only afterwards.
 */
const CONNECT_ATTEMPTS = 20;
const CONNECT_PAUSE_MS = 100;
/** How often a call that only reads is sent if its server goes down during the call. */
const READ_ATTEMPTS = 3;
const healthCheck = serviceDefinition(Health)[Health.method.check.localName]!;
/** Names of methods that may be called twice: they only read, or repeating them finds or creates the same. */
const READS = /^(Get|List|Count|LookUp|Resolve)/;
const CHANNEL_OPTIONS: grpc.ClientOptions = {
  // By default 64 kB of replies are under way on a connection: then every call, however small, waits for the large replies
  // to calls before it, and no queue can be fair.
  "grpc-node.flow_control_window": 4_194_304,
  // The receipt of a job of 10,000 vendors is the largest answer.
  "grpc.max_receive_message_length": 16_000_000,
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // A restarted service is reached again within a second, not after grpc-js's default of up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // A pod's new address is looked up in DNS after one second, not after the default of 30 s.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
};

/**
 * Creates a client that calls a gRPC service through async functions, with a deadline on every unary call. Calls are
 * spread over all addresses. A unary call that finds no connection waits up to two seconds for one. Errors: plaintext
 * to a host that is not loopback, certificates that can't be used, or an IP address together with them.
 */
export function createClient<S extends DescService>(service: S, options: ClientOptions): Client<S> {
  const host = hostOf(options.address);
  if (options.tls) expectName(host);
  else expectLoopback(host);
  const credentials = channelCredentials(options.tls, options.logger);
  const channel = new grpc.Client(`dns:///${options.address}`, credentials, CHANNEL_OPTIONS);
  const definition = serviceDefinition(service);
  const methods: Record<string, unknown> = {
    close: () => channel.close(),
    isServing: () => checkHealth(channel, options.caller),
  };
  for (const method of service.methods) {
    const rpc = {
      channel,
      method,
      codec: definition[method.localName]!,
      reads: READS.test(method.name),
      name: `${service.typeName}/${method.name}`,
      caller: options.caller,
    };
    methods[method.localName] = method.methodKind === "server_streaming" ? streamCall(rpc) : unaryCall(rpc);
  }
  return methods as Client<S>;
}

/** Has no spans, measurements or log lines, because it is called all the time. */
function checkHealth(channel: grpc.Client, caller: string): Promise<boolean> {
  const { path, requestSerialize, responseDeserialize } = healthCheck;
  return new Promise((resolve) => {
    channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      create(HealthCheckRequestSchema),
      metadataOf(caller),
      { deadline: Date.now() + HEALTH_TIMEOUT_MS },
      (error, reply) => resolve(!error && (reply as HealthCheckResponse).status === ServingStatus.SERVING),
    );
  });
}

interface Rpc {
  readonly channel: grpc.Client;
  readonly method: DescService["methods"][number];
  readonly codec: grpc.MethodDefinition<unknown, unknown>;
  /** The method only reads, so a call without an answer has had no effect. */
  readonly reads: boolean;
  readonly name: string;
  readonly caller: string;
}

function unaryCall(rpc: Rpc) {
  return (request: MessageInitShape<DescMessage>, options: CallOptions = {}) => {
    const metadata = metadataOf(rpc.caller);
    const record = recordClientCall(rpc.name, metadata);
    return record.run(async () => {
      const deadline = deadlineFor(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const { signal, failsFast = false } = options;
      const call = { request: create(rpc.method.input, request), metadata, deadline, signal, failsFast };
      try {
        const reply = await outside(() => sendUntilAnswered(rpc, call));
        record.finish(grpc.status.OK);
        return reply;
      } catch (error) {
        const failure = error as grpc.ServiceError;
        record.finish(failure.code ?? grpc.status.UNKNOWN);
        throw fromStatus(failure, !rpc.reads && !foundNoConnection(failure));
      }
    });
  };
}

interface Call {
  readonly request: Message;
  readonly metadata: grpc.Metadata;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly failsFast: boolean;
}

/**
 * Sends a call, again and again for a while if there is no connection. A call that only reads is also sent again if its
 * server went down before the whole answer came; grpc-js's own retries end with the first header of an answer. Errors:
 * those of grpc-js.
 */
async function sendUntilAnswered(rpc: Rpc, call: Call): Promise<unknown> {
  let sent = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(rpc, call);
    } catch (error) {
      const failure = error as grpc.ServiceError;
      const isConnected = !foundNoConnection(failure);
      const again = isConnected
        ? rpc.reads && isUnanswered(failure) && ++sent < READ_ATTEMPTS
        : !call.failsFast && attempt < CONNECT_ATTEMPTS && Date.now() + CONNECT_PAUSE_MS < call.deadline;
      if (!again || call.signal?.aborted) throw error;
      if (!isConnected) await delay(CONNECT_PAUSE_MS, undefined, { signal: call.signal }).catch(() => undefined);
    }
  }
}

/** Errors: those of grpc-js. */
function send({ channel, codec }: Rpc, { request, metadata, deadline, signal }: Call): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { path, requestSerialize, responseDeserialize } = codec;
    const call = channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      { deadline },
      (error, reply) => (error ? reject(error) : resolve(reply)),
    );
    cancelOn(signal, call);
  });
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
      throw fromStatus(error, false);
    } finally {
      call.cancel(); // leaving the loop early must stop the server; on a finished call this does nothing
      record.finish(status);
    }
  };
}

/** Returns whether the call was never sent; grpc-js says so only in its text. */
function foundNoConnection({ code, details }: grpc.ServiceError): boolean {
  return code === grpc.status.UNAVAILABLE && /No connection established|Name resolution failed/.test(details);
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
