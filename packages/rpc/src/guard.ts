import * as grpc from "@grpc/grpc-js";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { callerName, type TlsFiles } from "./credentials.ts";
import { underDeadline } from "./deadline.ts";
import { toStatus } from "./errors.ts";
import type { CallContext } from "./handlers.ts";
import { recordServerCall } from "./instrumentation.ts";

type AnyCall = grpc.ServerUnaryCall<unknown, Buffer> | grpc.ServerWritableStream<unknown, Buffer>;

/** Runs a handler in its span, under its deadline, for callers on the list; returns the status of what it throws. */
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
      const caller = callerName(call, tls);
      const signal = hangUpSignal(call);
      const finish = (status: grpc.status) => {
        record.finish(status);
        return { rpc, caller, code: grpc.status[status], duration_ms: Math.round(performance.now() - startedAt) };
      };
      if (!allowed.includes(caller)) {
        const status = toStatus(new ServiceError("forbidden", { message: "This service may not call this method." }));
        logger.warn(finish(status.code), "a service that is not on the list called");
        return status;
      }
      try {
        await underDeadline(Number(call.getDeadline()), () => run({ caller, signal }));
        logger.debug(finish(signal.aborted ? grpc.status.CANCELLED : grpc.status.OK), "call");
        return undefined;
      } catch (error) {
        const refusal = translate(error);
        const status = toStatus(refusal);
        if (signal.aborted) logger.info({ ...finish(grpc.status.CANCELLED), err: error }, "the caller did not wait");
        else if (isFault(refusal)) logger.error({ ...finish(status.code), err: error }, "a call failed");
        else logger.info({ ...finish(status.code), error: refusal.code }, "a call was refused");
        return status;
      }
    });
  };
}

function isFault(refusal: ServiceError): boolean {
  return refusal.code === "internal_error" || refusal.code === "service_unavailable";
}

function hangUpSignal(call: NodeJS.EventEmitter & { readonly cancelled: boolean }): AbortSignal {
  const hangUp = new AbortController();
  if (call.cancelled) hangUp.abort();
  else call.once("cancelled", () => hangUp.abort());
  return hangUp.signal;
}
