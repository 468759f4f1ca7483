import { inBatches } from "@vvs/batching";
import type { Logger } from "@vvs/logging";
import { exactTime, longDay } from "@vvs/registration";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Notification } from "../model/notifications.ts";
import type { Basics } from "../parts.ts";
import type { ApiKeyDocument } from "../store.ts";
import type { GatherNotifications } from "./gathering.ts";

const DAY_MS = 24 * 60 * 60_000;
const POLL_MS = 60 * 60_000;
/** Days before the end of a key on which members are reminded, the last one first. */
const EXPIRY_DAYS = [1, 7, 30];
/** After how many days without use members are reminded, and again after as many more. */
const UNUSED_DAYS = 90;
/** How long a reminder of an unused key may be late. Shorter than ids of notifications are kept, so that none comes twice. */
const LATE_DAYS = 7;
const BATCH = 500;

export type RemindOfKeys = ReturnType<typeof createRemindOfKeys>;

/**
 * Notifies members of live API keys that end soon, and of those that nobody used for long. Each reminder has an id of its own,
 * so rounds may be repeated, and all replicas make them.
 */
export function createRemindOfKeys(options: Pick<Basics, "store" | "now"> & { gather: GatherNotifications }) {
  const { store, now, gather } = options;
  async function remind(keys: readonly ApiKeyDocument[]): Promise<void> {
    const at = now();
    const uses = await store.apiKeyUses.find({ _id: { $in: keys.map(({ _id }) => _id) } }).toArray();
    const lastUses = new Map(uses.map(({ _id, last_used_at }) => [_id, last_used_at]));
    for (const [organizationId, own] of Map.groupBy(keys, ({ organization_id }) => organization_id)) {
      const found = own.flatMap((key) =>
        [expiry(key, at), disuse(key, lastUses.get(key._id), at)].filter((each) => !!each),
      );
      if (found.length > 0) await gather(organizationId, found);
    }
  }

  /** Reminds of all keys that need it now. */
  return async (): Promise<void> => {
    const working = { environment: "live", revoked_at: { $exists: false }, rolled_at: { $exists: false } } as const;
    for await (const keys of inBatches(store.apiKeys.find(working), BATCH)) await remind(keys);
  };
}

/** A key that was created later than on the day of a reminder needs none: its creator chose the end. */
function expiry(key: ApiKeyDocument, at: Date): Notification | undefined {
  const { expires_at, created_at } = key;
  if (!expires_at || expires_at <= at) return undefined;
  const days = EXPIRY_DAYS.find((each) => expires_at.getTime() - at.getTime() <= each * DAY_MS);
  if (days === undefined || created_at.getTime() > expires_at.getTime() - days * DAY_MS) return undefined;
  const line = `Expires at ${exactTime(expires_at, "minute")}. Create its successor before, if it is still needed.`;
  return { ...about(key), id: `${key._id}:expires:${days}`, lines: [line] };
}

function disuse(key: ApiKeyDocument, lastUse: Date | undefined, at: Date): Notification | undefined {
  if (key.expires_at && key.expires_at <= at) return undefined;
  const since = lastUse ?? key.created_at;
  const days = Math.floor((at.getTime() - since.getTime()) / DAY_MS);
  if (days < UNUSED_DAYS || days % UNUSED_DAYS >= LATE_DAYS) return undefined;
  const line = `${lastUse ? "Not used since" : "Never used since its creation on"} ${dayOf(since)}. Revoke it if nobody needs it.`;
  return { ...about(key), id: `${key._id}:unused:${Math.floor(days / UNUSED_DAYS)}`, lines: [line] };
}

const about = ({ name, start, last_four }: ApiKeyDocument) =>
  ({ kind: "keys", title: `${name} (${start}…${last_four})`, path: "/live/api-keys" }) as const;

const dayOf = (at: Date): string => longDay(at.toISOString().slice(0, 10));

/** Reminds every hour, until stopped. */
export function runKeyReminders(options: {
  remind: RemindOfKeys;
  stopping: AbortSignal;
  logger: Logger;
}): SupervisedLoop {
  const { remind, stopping, logger } = options;
  return superviseLoop({
    async round() {
      await remind();
      return POLL_MS;
    },
    failure: "API keys that expire or are not used can't be looked for; retrying until they can",
    recovery: "API keys that expire or are not used are looked for again",
    stopping,
    logger,
  });
}
