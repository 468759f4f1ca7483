import { mayProbe, rampSecond } from "../endpoints/circuit.ts";
import type { EndpointIdentity } from "../endpoints/endpoint.ts";
import type { EndpointCache } from "../endpoints/endpoint-cache.ts";
import type { Engine } from "./engine.ts";

/** Maximum number of held deliveries to one endpoint claimed together. */
const HELD_PER_CLAIM = 64;

/** How many of the deliveries that are held for an endpoint may be claimed now. */
export interface Allowances {
  /** `probe`: the circuit is open, and the one delivery is its probe. */
  of(identity: EndpointIdentity): { readonly count: number; readonly probe: boolean };
  /** Notes how many were claimed. */
  note(identity: EndpointIdentity, claimed: number): void;
}

export function createAllowances(options: {
  endpoints: Pick<EndpointCache, "get">;
  engine: Pick<Engine, "roomFor">;
  now: () => Date;
}): Allowances {
  const { endpoints, engine, now } = options;
  /** Attempts begun in the present second of an endpoint's ramp, by endpoint. */
  const ramped = new Map<string, { id: string; begun: number }>();

  return {
    of(identity) {
      const { circuit } = endpoints.get(identity);
      if (circuit.state === "open") return { count: mayProbe(circuit, now()) ? 1 : 0, probe: true };
      const second = rampSecond(circuit, now());
      const room = engine.roomFor(identity);
      if (!second || room > 0) return { count: Math.min(room, HELD_PER_CLAIM), probe: false };
      const known = ramped.get(identity._id);
      const begun = known?.id === second.id ? known.begun : 0;
      return { count: Math.min(second.attempts - begun, HELD_PER_CLAIM), probe: false };
    },
    note(identity, claimed) {
      const second = rampSecond(endpoints.get(identity).circuit, now());
      if (!second) return void ramped.delete(identity._id);
      const known = ramped.get(identity._id);
      ramped.set(identity._id, { id: second.id, begun: claimed + (known?.id === second.id ? known.begun : 0) });
    },
  };
}
