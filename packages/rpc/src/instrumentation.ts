import * as grpc from "@grpc/grpc-js";
import { context, metrics, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";

// Names of the OpenTelemetry semantic conventions for RPC (v1.44, release candidate).
const RPC_SYSTEM = "rpc.system.name";
const RPC_METHOD = "rpc.method";
const RPC_STATUS = "rpc.status_code";

const tracer = trace.getTracer("@vvs/rpc");
const meter = metrics.getMeter("@vvs/rpc");
const buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 25];
const durations = {
  server: meter.createHistogram("rpc.server.call.duration", {
    description:
      "Duration of calls that this service answered. If the highest values grow, this service or one that it calls is slow.",
    unit: "s",
    advice: { explicitBucketBoundaries: buckets },
  }),
  client: meter.createHistogram("rpc.client.call.duration", {
    description: "Duration of calls that this service made, by method and status.",
    unit: "s",
    advice: { explicitBucketBoundaries: buckets },
  }),
};

/** Runs a call in a span of its own and measures it. `finish` must be called once, with the call's status. */
export interface CallRecord {
  readonly run: <T>(fn: () => T) => T;
  readonly finish: (status: grpc.status) => void;
}

/** Starts the record of an outgoing call and writes its trace context into the metadata. */
export function recordClientCall(method: string, metadata: grpc.Metadata): CallRecord {
  const span = tracer.startSpan(method, {
    kind: SpanKind.CLIENT,
    attributes: { [RPC_SYSTEM]: "grpc", [RPC_METHOD]: method },
  });
  const active = trace.setSpan(context.active(), span);
  propagation.inject(active, metadata, { set: (carrier, key, value) => carrier.set(key, value) });
  return record("client", method, span, active);
}

/** Starts the record of an incoming call, as a child of the caller's span. */
export function recordServerCall(method: string, metadata: grpc.Metadata): CallRecord {
  const parent = propagation.extract(context.active(), metadata, {
    get: (carrier, key) => carrier.get(key).map(String)[0],
    keys: (carrier) => Object.keys(carrier.getMap()),
  });
  const attributes = { [RPC_SYSTEM]: "grpc", [RPC_METHOD]: method };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  return record("server", method, span, trace.setSpan(parent, span));
}

function record(
  side: "server" | "client",
  method: string,
  span: Span,
  active: ReturnType<typeof context.active>,
): CallRecord {
  const startedAt = performance.now();
  return {
    run: (fn) => context.with(active, fn),
    finish(status) {
      const attributes = { [RPC_SYSTEM]: "grpc", [RPC_METHOD]: method, [RPC_STATUS]: grpc.status[status] };
      durations[side].record((performance.now() - startedAt) / 1000, attributes);
      span.setAttribute(RPC_STATUS, grpc.status[status]);
      if (isFault(side, status)) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** For a server a refusal is an ordinary answer; for the caller every status but OK is an error. */
function isFault(side: "server" | "client", status: grpc.status): boolean {
  if (side === "client") return status !== grpc.status.OK;
  return status === grpc.status.INTERNAL || status === grpc.status.UNKNOWN || status === grpc.status.UNAVAILABLE;
}
