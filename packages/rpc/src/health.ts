import { EventEmitter } from "node:events";
import { create } from "@bufbuild/protobuf";
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData, UntypedServiceImplementation } from "@grpc/grpc-js";
import { ServiceError } from "@vvs/errors";
import {
  Health,
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "@vvs/proto/grpc/health/v1/health";
import { toStatus } from "./errors.ts";

/** grpc.health.v1 of a server. It is called every few seconds, so it has no spans, measurements or log lines. */
export interface HealthService {
  readonly implementation: UntypedServiceImplementation;
  /** Switches to NOT_SERVING, sends that to all watchers, and ends their streams. */
  stop(): void;
}

const LOOK_EVERY_MS = 250;

/**
 * Creates a health service that answers SERVING, for the whole server ("") and for each of its services, while
 * `canServe` returns true and until it is stopped.
 */
export function createHealthService(typeNames: readonly string[], canServe: () => boolean): HealthService {
  const known = new Set(["", ...typeNames, Health.typeName]);
  const changes = new EventEmitter().setMaxListeners(0);
  let stopped = false;
  let serving = canServe();
  const look = () => {
    const now = !stopped && canServe();
    if (now === serving) return;
    serving = now;
    changes.emit("changed");
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  const message = (status: Status): HealthCheckResponse => create(HealthCheckResponseSchema, { status });
  const statusOf = (service: string): Status => {
    look();
    if (!known.has(service)) return Status.SERVICE_UNKNOWN;
    return serving ? Status.SERVING : Status.NOT_SERVING;
  };
  return {
    implementation: {
      check(
        { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
        callback: sendUnaryData<HealthCheckResponse>,
      ) {
        const status = statusOf(request.service);
        if (status !== Status.SERVICE_UNKNOWN) callback(null, message(status));
        else callback(toStatus(new ServiceError("not_found", { message: "This server has no such service." })));
      },
      watch(call: ServerWritableStream<HealthCheckRequest, HealthCheckResponse>) {
        const { service } = call.request;
        call.write(message(statusOf(service)));
        const send = () => known.has(service) && call.write(message(statusOf(service)));
        const end = () => call.end();
        changes.on("changed", send).once("stopped", end);
        call.once("cancelled", () => changes.off("changed", send).off("stopped", end));
      },
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      look();
      changes.emit("stopped");
    },
  };
}
