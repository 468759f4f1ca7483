import { mayProbe, rampSecond } from "./circuit.ts";
import type { EndpointBook, EndpointIdentity } from "./endpoint-book.ts";
import type { Engine } from "./engine.ts";

/** Held deliveries that are taken in hand at once, of one endpoint. */
const HELD_AT_ONCE = 64;

/** How much of what is held back for an endpoint may be taken in hand now. */
export interface Allowances {
  of(identity: EndpointIdentity): { readonly count: number; readonly probe: boolean };
  /** So many were. */
  note(identity: EndpointIdentity, taken: number): void;
}

export function createAllowances(options: {
  book: Pick<EndpointBook, "get">;
  engine: Pick<Engine, "roomFor">;
  now: () => Date;
}): Allowances {
  const { book, engine, now } = options;
  /** Attempts begun in the present second of an endpoint's ramp. */
  const ramped = new Map<string, { id: string; begun: number }>();

  return {
    of(identity) {
      const { circuit } = book.get(identity);
      if (circuit.state === "open") return { count: mayProbe(circuit, now()) ? 1 : 0, probe: true };
      const second = rampSecond(circuit, now());
      const room = engine.roomFor(identity);
      if (!second || room > 0) return { count: Math.min(room, HELD_AT_ONCE), probe: false };
      const known = ramped.get(identity._id);
      const begun = known?.id === second.id ? known.begun : 0;
      return { count: Math.min(second.attempts - begun, HELD_AT_ONCE), probe: false };
    },
    note(identity, taken) {
      const second = rampSecond(book.get(identity).circuit, now());
      if (!second) return void ramped.delete(identity._id);
      const known = ramped.get(identity._id);
      ramped.set(identity._id, { id: second.id, begun: taken + (known?.id === second.id ? known.begun : 0) });
    },
  };
}
