import { once } from "node:events";
import {
  create,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type * as grpc from "@grpc/grpc-js";
import type { ServiceError } from "@vvs/errors";
import type { Admit } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import { callOwner } from "./call-owner.ts";
import type { TlsFiles } from "./certificates.ts";
import { type CallContext, createGuard, type Guard } from "./guard.ts";

type Handler<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
      : never; // client and bidi streams are not used in this system

/** One handler per RPC of the service; leaving one out is a compile error. */
export type Handlers<S extends DescService> = { [K in keyof S["method"]]: Handler<S["method"][K]> };

/** Names of the services that may call each RPC; leaving an RPC out is a compile error. */
export type Callers<S extends DescService> = { [K in keyof S["method"]]: readonly string[] };

/** Returns the callers of a service all of whose RPCs, later ones too, are for the same services. */
export function onlyFor<S extends DescService>(service: S, ...names: string[]): Callers<S> {
  return Object.fromEntries(service.methods.map(({ localName }) => [localName, names])) as unknown as Callers<S>;
}

/** A service as plain async functions. */
export interface ServicePart<S extends DescService = DescService> {
  readonly service: S;
  readonly handlers: Handlers<S>;
  readonly callers: Callers<S>;
  /** Unary RPCs that never wait in the queue: health checks, and reads in batches for calls that another service admitted. */
  readonly unqueued?: readonly Extract<keyof S["method"], string>[] | undefined;
  /**
   * Maximum number of an organization's calls that have begun, of RPCs that mostly use the processor: each step of another
   * call waits for a step of all of them. Further ones let others pass.
   */
  readonly maxBegun?: Partial<Record<keyof S["method"], number>> | undefined;
}

/** Returns the part untyped, for servers with several services; its completeness is checked by this function's type. */
export function servicePart<S extends DescService>(part: ServicePart<S>): ServicePart {
  return part as unknown as ServicePart;
}

/** A service with the settings that apply to each of its calls. */
export interface Implementation<S extends DescService> extends ServicePart<S> {
  readonly tls: TlsFiles | undefined;
  readonly logger: Logger;
  /** Converts a store's error into a refusal, such as service_unavailable while the store is unavailable. */
  readonly translate?: ((error: unknown) => ServiceError) | undefined;
  /** The queue in which unary calls wait for a seat; they run immediately where absent. */
  readonly admit?: Admit | undefined;
}

type Encode = (reply: Message) => Buffer;
type Unary = (request: unknown, context: CallContext) => Promise<object>;
type Streaming = (request: unknown, context: CallContext) => AsyncIterable<object>;

/** Returns the grpc-js handlers of a service. They return encoded replies. */
export function implementationOf<S extends DescService>(
  options: Implementation<S>,
  definition: grpc.ServiceDefinition,
): grpc.UntypedServiceImplementation {
  const methods: grpc.UntypedServiceImplementation = {};
  const handlers = options.handlers as Record<string, unknown>;
  const callers = options.callers as Record<string, readonly string[]>;
  for (const method of options.service.methods) {
    const name = method.localName;
    const rpc = `${options.service.typeName}/${method.name}`;
    const guard = createGuard({ ...options, rpc, allowed: callers[name]! });
    const handle = handlers[name];
    const encode: Encode = (reply) => definition[name]!.responseSerialize(create(method.output, reply));
    const maxBegun = (options.maxBegun as Record<string, number> | undefined)?.[name];
    const admit = (options.unqueued as readonly string[] | undefined)?.includes(name) ? undefined : options.admit;
    methods[name] =
      method.methodKind === "unary"
        ? unary(admit ? queued(handle as Unary, admit, { kind: rpc, maxBegun }) : (handle as Unary), encode, guard)
        : serverStream(handle as Streaming, encode, guard);
  }
  return methods;
}

function queued(handle: Unary, admit: Admit, call: { kind: string; maxBegun: number | undefined }): Unary {
  return (request, context) => {
    const owner = callOwner(context.caller, request as Parameters<typeof callOwner>[1]);
    return admit({ owner, ...call }, () => handle(request, context));
  };
}

function unary(handle: Unary, encode: Encode, guard: Guard): grpc.handleUnaryCall<unknown, Buffer> {
  return async (call, callback) => {
    let reply: Buffer | undefined;
    const refusal = await guard(call, async (context) => {
      reply = encode((await handle(call.request, context)) as Message);
    });
    if (refusal) callback(refusal);
    else callback(null, reply);
  };
}

function serverStream(
  handle: Streaming,
  encode: Encode,
  guard: Guard,
): grpc.handleServerStreamingCall<unknown, Buffer> {
  return async (call) => {
    const refusal = await guard(call, async (context) => {
      const { signal } = context;
      for await (const reply of handle(call.request, context)) {
        if (signal.aborted) return;
        if (!call.write(encode(reply as Message))) await drained(call, signal);
      }
    });
    if (refusal)
      call.emit("error", refusal); // grpc-js sends it as the status after what is already written
    else call.end();
  };
}

async function drained(call: NodeJS.EventEmitter, signal: AbortSignal): Promise<void> {
  await once(call, "drain", { signal }).catch(() => undefined); // on abort the loop sees the signal itself
}
