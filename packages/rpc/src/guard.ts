import * as grpc from "@grpc/grpc-js";
import { deadlineAt, forCaller, underDeadline } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { TlsFiles } from "./certificates.ts";
import { callerName } from "./credentials.ts";
import { toStatus } from "./errors.ts";
import { recordServerCall } from "./instrumentation.ts";

/** What a handler knows about a call besides its request. */
export interface CallContext {
  /** Name of the calling service. */
  readonly caller: string;
  /** Aborts when the caller hangs up or its deadline passes. */
  readonly signal: AbortSignal;
}

type AnyCall = grpc.ServerUnaryCall<unknown, Buffer> | grpc.ServerWritableStream<unknown, Buffer>;

/**
 * Runs a handler in a span and under its deadline, if the caller is allowed. Returns the status of an error, else
 * undefined.
 */
export type Guard = (
  call: AnyCall,
  run: (context: CallContext) => Promise<void>,
) => Promise<Partial<grpc.StatusObject> | undefined>;

interface GuardOptions {
  /** The method's full name. */
  readonly rpc: string;
  readonly allowed: readonly string[];
  readonly tls: TlsFiles | undefined;
  readonly logger: Logger;
  readonly translate?: (error: unknown) => ServiceError;
}

export function createGuard({ rpc, allowed, tls, logger, translate = ServiceError.from }: GuardOptions): Guard {
  return (call, run) => {
    const record = recordServerCall(rpc, call.metadata);
    const startedAt = performance.now();
    return record.run(async () => {
      const caller = callerName(call, { tls, allowed });
      const { signal, end } = hangUpOf(call);
      const finish = (status: grpc.status) => {
        record.finish(status);
        return { rpc, caller, code: grpc.status[status], duration_ms: Math.round(performance.now() - startedAt) };
      };
      if (!allowed.includes(caller)) {
        const status = toStatus(new ServiceError("forbidden", { message: "This service may not call this method." }));
        logger.warn(finish(status.code), "a service called a method that it may not call");
        return status;
      }
      try {
        const deadline = deadlineAt(Number(call.getDeadline()));
        await forCaller(signal, () => underDeadline(deadline, () => run({ caller, signal })));
        logger.debug(finish(signal.aborted ? grpc.status.CANCELLED : grpc.status.OK), "call");
        return undefined;
      } catch (error) {
        const refusal = translate(error);
        const status = toStatus(refusal);
        if (signal.aborted) logger.info({ ...finish(grpc.status.CANCELLED), err: error }, "the caller did not wait");
        else if (isFault(refusal)) logger.error({ ...finish(status.code), err: error }, "a call failed");
        else logger.info({ ...finish(status.code), error: refusal.code }, "a call was refused");
        return status;
      } finally {
        end();
      }
    });
  };
}

function isFault(refusal: ServiceError): boolean {
  return refusal.code === "internal_error" || refusal.code === "service_unavailable";
}

/** Returns the signal of a call's hanging up, until `end` is called: each call is also "cancelled" when its stream closes. */
function hangUpOf(call: NodeJS.EventEmitter & { readonly cancelled: boolean }): { signal: AbortSignal; end(): void } {
  const hangUp = new AbortController();
  const abort = () => hangUp.abort();
  if (call.cancelled) abort();
  else call.once("cancelled", abort);
  return { signal: hangUp.signal, end: () => void call.off("cancelled", abort) };
}
