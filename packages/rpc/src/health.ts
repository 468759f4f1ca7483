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

/** grpc.health.v1 for a server. Asked every few seconds, so without spans, measurements or log lines. */
export interface HealthService {
  readonly implementation: UntypedServiceImplementation;
  /** From now on NOT_SERVING; those who watch are told, and their streams end. */
  stop(): void;
}

/** Answers SERVING, for the server as a whole ("") and for each service it has, until it is stopped. */
export function createHealthService(typeNames: readonly string[]): HealthService {
  const known = new Set(["", ...typeNames, Health.typeName]);
  const stopping = new AbortController();
  const message = (status: Status): HealthCheckResponse => create(HealthCheckResponseSchema, { status });
  const statusOf = (service: string): Status => {
    if (!known.has(service)) return Status.SERVICE_UNKNOWN;
    return stopping.signal.aborted ? Status.NOT_SERVING : Status.SERVING;
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
        const end = () => {
          if (known.has(service)) call.write(message(Status.NOT_SERVING));
          call.end();
        };
        stopping.signal.addEventListener("abort", end, { once: true });
        call.once("cancelled", () => stopping.signal.removeEventListener("abort", end));
      },
    },
    stop: () => stopping.abort(),
  };
}
