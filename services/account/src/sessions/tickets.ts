import type { SecretKey } from "@vvs/config";
import { open, type Place, seal } from "@vvs/sealing";

export type Tickets = ReturnType<typeof createTickets>;

/**
 * Tickets that browsers bring back: what a sign-in needs to go on, sealed. Nothing is stored for them, so strangers who
 * begin sign-ins without end use up nothing that others need. A ticket is bound to a purpose, and to the token of one browser.
 */
export function createTickets({ keys, now }: { keys: readonly SecretKey[]; now: () => Date }) {
  const placeOf = (purpose: string, boundTo: string): Place => ["", "", "tickets", boundTo, purpose];

  return {
    /** Returns a ticket that can be read until a time. Each is another one, and nobody can guess it. */
    issue(purpose: string, boundTo: string, expiresAt: Date, content: string): Buffer {
      return Buffer.from(seal(keys, placeOf(purpose, boundTo), `${expiresAt.getTime()} ${content}`).box);
    },

    /** Returns what a ticket contains; undefined if it is not ours, of another browser or purpose, or has expired. */
    read(box: Buffer, purpose: string, boundTo: string): { content: string; expiresAt: Date } | undefined {
      const text = keys
        .map(({ id }) => opened(keys, placeOf(purpose, boundTo), id, box))
        .find((one) => one !== undefined);
      if (text === undefined) return undefined;
      const space = text.indexOf(" ");
      const expiresAt = new Date(Number(text.slice(0, space)));
      return expiresAt > now() ? { content: text.slice(space + 1), expiresAt } : undefined;
    },
  };
}

function opened(keys: readonly SecretKey[], place: Place, keyId: string, box: Buffer): string | undefined {
  try {
    return open(keys, place, { key_id: keyId, box });
  } catch {
    return undefined;
  }
}
