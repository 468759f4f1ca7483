import type { AttemptError } from "../model/delivery.ts";
import type { Circuit, Endpoint, EndpointIdentity } from "./endpoint.ts";

/** Failures in a row that open the circuit; fewer timeouts are enough, as they use slots for long. */
const OPENED_BY = { timeout: 2, other: 5 } as const;
/** Pause after a timeout; doubled by each further probe that fails. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A fast failure uses no slot for long, so its pause is short enough to keep the promised schedule of retries … */
const SHORTEST_PAUSE_MS = 250;
/** … but grows with the time for which the endpoint has failed, so that a dead one is probed less and less often. */
const PAUSE_OF_FAILING = 1 / 120;
/** Failures in a row that end a ramp. A single one, which the event itself may cause, takes it back by one step. */
const RAMP_ENDED_BY = 3;
const RAMP_STEP_MS = 1_000;
/** Number of steps of a ramp: after the last, at 1,024 attempts a second, nothing is held any longer. */
const RAMP_STEPS = 10;
/** The time of the last success is updated at most this often, in milliseconds. */
const SUCCESS_UPDATE_MS = 60_000;

/** The result of an attempt, as far as it concerns the endpoint. */
export interface Observation {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Absent: delivered. */
  readonly error?: AttemptError;
  readonly statusCode?: number;
  /** The attempt was the probe of an open circuit. */
  readonly probe: boolean;
  /** It was a test event: its failure is not counted, because a user may have sent it to a wrong URL. */
  readonly test?: boolean;
}

/** Returns an endpoint about which nothing is known. */
export function newEndpoint({ _id, organization_id, url }: EndpointIdentity, now: Date): Endpoint {
  return {
    _id,
    organization_id,
    url,
    failing_since: null,
    consecutive_failures: 0,
    last_success_at: null,
    last_failure_at: null,
    last_error: null,
    last_status_code: null,
    gone_at: null,
    dismissed_at: null,
    circuit: { state: "closed" },
    rev: 0,
    updated_at: now,
  };
}

/** Returns the endpoint after an attempt; the same object where nothing changed. */
export function observe(endpoint: Endpoint, seen: Observation): Endpoint {
  if (seen.error === undefined) return succeeded(endpoint, seen);
  return seen.test ? testFailed(endpoint, seen) : failed(endpoint, seen, seen.error);
}

function succeeded(endpoint: Endpoint, { endedAt }: Observation): Endpoint {
  const circuit = afterSuccess(endpoint.circuit, endedAt);
  const known = endpoint.last_success_at?.getTime() ?? 0;
  const isChange =
    circuit !== endpoint.circuit ||
    endpoint.consecutive_failures > 0 ||
    endpoint.gone_at !== null ||
    !!endpoint.dismissed_at ||
    endedAt.getTime() - known >= SUCCESS_UPDATE_MS;
  if (!isChange) return endpoint;
  return {
    ...endpoint,
    failing_since: null,
    consecutive_failures: 0,
    gone_at: null,
    dismissed_at: null,
    last_success_at: endedAt,
    circuit,
  };
}

function afterSuccess(circuit: Circuit, now: Date): Circuit {
  if (circuit.state === "open") return { state: "ramp", step: 0, step_at: now };
  if (circuit.state === "ramp" && stepAt(circuit, now) >= RAMP_STEPS) return { state: "closed" };
  return circuit;
}

/** A test event may be the probe of an open circuit; otherwise its failure changes nothing. */
function testFailed(endpoint: Endpoint, seen: Observation): Endpoint {
  const { circuit, failing_since } = endpoint;
  if (circuit.state !== "open" || !seen.probe) return endpoint;
  return { ...endpoint, circuit: opened(circuit.failed_probes + 1, failing_since ?? seen.endedAt, seen) };
}

function failed(endpoint: Endpoint, seen: Observation, error: AttemptError): Endpoint {
  const consecutive = endpoint.consecutive_failures + 1;
  const failingSince = endpoint.failing_since ?? seen.endedAt;
  return {
    ...endpoint,
    failing_since: failingSince,
    consecutive_failures: consecutive,
    last_failure_at: seen.endedAt,
    last_error: error,
    last_status_code: seen.statusCode ?? null,
    gone_at: seen.statusCode === 410 ? (endpoint.gone_at ?? seen.endedAt) : endpoint.gone_at,
    circuit: afterFailure(endpoint.circuit, consecutive, failingSince, seen),
  };
}

function afterFailure(circuit: Circuit, consecutive: number, failingSince: Date, seen: Observation): Circuit {
  switch (circuit.state) {
    case "closed":
      return consecutive >= (seen.error === "timeout" ? OPENED_BY.timeout : OPENED_BY.other)
        ? opened(1, failingSince, seen)
        : circuit;
    case "open":
      return seen.probe ? opened(circuit.failed_probes + 1, failingSince, seen) : circuit;
    case "ramp":
      // An attempt that began before the endpoint answered again says nothing about its present state.
      if (seen.startedAt < circuit.step_at) return circuit;
      if (consecutive >= RAMP_ENDED_BY) return opened(1, failingSince, seen);
      return { state: "ramp", step: Math.max(0, stepAt(circuit, seen.endedAt) - 1), step_at: seen.endedAt };
  }
}

function opened(failures: number, failingSince: Date, { endedAt, error }: Observation): Circuit {
  const pauseMs =
    error === "timeout"
      ? FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10)
      : Math.max(SHORTEST_PAUSE_MS, (endedAt.getTime() - failingSince.getTime()) * PAUSE_OF_FAILING);
  const probeAt = new Date(endedAt.getTime() + Math.min(LONGEST_PAUSE_MS, pauseMs));
  return { state: "open", probe_at: probeAt, failed_probes: failures };
}

function stepAt(circuit: { readonly step: number; readonly step_at: Date }, now: Date): number {
  return circuit.step + Math.max(0, Math.floor((now.getTime() - circuit.step_at.getTime()) / RAMP_STEP_MS));
}

/** Returns whether the circuit has no recorded faults. A ramp ends by itself when its time is over. */
export function isFree(circuit: Circuit, now: Date): boolean {
  return circuit.state === "closed" || (circuit.state === "ramp" && stepAt(circuit, now) >= RAMP_STEPS);
}

/** May the probe of an open circuit be made? The pause is over, and no replica has claimed it. */
export function mayProbe(circuit: Circuit, now: Date): boolean {
  return circuit.state === "open" && circuit.probe_at <= now;
}

/** Returns the endpoint with its probe claimed; after `until` another replica may claim it, as this one may have died. */
export function probing(endpoint: Endpoint, until: Date): Endpoint {
  if (endpoint.circuit.state !== "open") throw new Error("only an open circuit is probed");
  return { ...endpoint, circuit: { ...endpoint.circuit, probe_at: until } };
}

/** Returns the present second of a ramp and how many attempts may begin in it; undefined where there is no ramp. */
export function rampSecond(circuit: Circuit, now: Date): { id: string; attempts: number } | undefined {
  if (circuit.state !== "ramp") return undefined;
  const step = stepAt(circuit, now);
  return { id: `${circuit.step_at.getTime()}/${step}`, attempts: 2 ** Math.min(step, RAMP_STEPS) };
}
