import type { SecretKey } from "@vvs/config";
import { isDuplicateKey } from "@vvs/mongo";
import { open, type Place, seal } from "@vvs/sealing";
import type { ClientSession, Collection, Filter, OptionalUnlessRequiredId } from "mongodb";
import type { OneTimeToken } from "../store.ts";
import { newSessionToken, sessionId } from "./sessions.ts";

/** Tokens of one kind, which are stored as hashes until they are used up or expire. */
export function createOneTimeTokens<T extends OneTimeToken>(options: {
  tokens: Collection<T>;
  lifetimeMs: number;
  now: () => Date;
}) {
  const { tokens, lifetimeMs, now } = options;
  const withHashOf = (token: string) => ({ _id: sessionId(token) }) as Filter<T>;
  return {
    /** Stores a new token for something, and returns it. */
    async issue(what: Omit<T, keyof OneTimeToken>, session?: ClientSession): Promise<string> {
      const token = newSessionToken();
      const stored = { ...what, _id: sessionId(token), expires_at: new Date(now().getTime() + lifetimeMs) };
      await tokens.insertOne(stored as unknown as OptionalUnlessRequiredId<T>, { session });
      return token;
    },

    /** Returns what a token was issued for; null if it is unknown, used up or expired. */
    find: (token: string) => tokens.findOne({ ...withHashOf(token), expires_at: { $gt: now() } }) as Promise<T | null>,

    /** Uses up a token. Returns false if it was used up before; of two concurrent transactions one gets true. */
    async useUp(token: string, session: ClientSession): Promise<boolean> {
      return (await tokens.deleteOne(withHashOf(token), { session })).deletedCount === 1;
    },
  };
}

export type Tickets = ReturnType<typeof createTickets>;

/**
 * One-time tokens that contain what a sign-in needs to continue, sealed. Nothing is stored until one is used up, so strangers
 * who begin sign-ins without end use up nothing that others need. A ticket is bound to a purpose, and to the token of one browser.
 */
export function createTickets(options: {
  keys: readonly SecretKey[];
  /** The used tickets of this kind. */
  used: Collection<OneTimeToken>;
  lifetimeMs: number;
  now: () => Date;
}) {
  const { keys, used, lifetimeMs, now } = options;
  const placeOf = (purpose: string, boundTo: string): Place => ["", "", "tickets", boundTo, purpose];
  const inLifetime = () => new Date(now().getTime() + lifetimeMs);
  return {
    /** Returns a ticket. Each is another one, and nobody can guess it. */
    issue(purpose: string, boundTo: string, content = ""): { ticket: Buffer; expiresAt: Date } {
      const expiresAt = inLifetime();
      const { box } = seal(keys, placeOf(purpose, boundTo), `${expiresAt.getTime()} ${content}`);
      return { ticket: Buffer.from(box), expiresAt };
    },

    /** Returns what a base64url ticket contains; undefined if it is not ours, of another browser or purpose, or expired. */
    read(ticket: string, purpose: string, boundTo: string): { content: string; expiresAt: Date } | undefined {
      const box = Buffer.from(ticket, "base64url");
      const text = keys
        .map(({ id }) => opened(keys, placeOf(purpose, boundTo), id, box))
        .find((one) => one !== undefined);
      if (text === undefined) return undefined;
      const space = text.indexOf(" ");
      const expiresAt = new Date(Number(text.slice(0, space)));
      return expiresAt > now() ? { content: text.slice(space + 1), expiresAt } : undefined;
    },

    /** Uses up a ticket that was read, by itself or by its browser's token. Returns false if it was used up before. */
    async useUp(token: string): Promise<boolean> {
      // Other spellings of the same bytes are the same ticket.
      const _id = sessionId(Buffer.from(token, "base64url").toString("base64url"));
      try {
        // Kept until the ticket has expired by the clock of every replica.
        await used.insertOne({ _id, expires_at: inLifetime() });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
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
