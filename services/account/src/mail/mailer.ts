import { setTimeout as wait } from "node:timers/promises";
import type { SecretKey } from "@vvs/config";
import type { Logger } from "@vvs/logging";
import type { Collection } from "mongodb";
import { MailRefusedError, type MailTransport } from "./mail.ts";
import type { MailMetrics } from "./metrics.ts";
import { type MailDocument, mailOf } from "./queue.ts";

const MINUTE_MS = 60_000;
/** A mail that nobody took for so long is given up: what it says is over. */
export const GIVE_UP_MS = 24 * 60 * MINUTE_MS;
/** An attempt takes less (the transport's own limits see to it), so that no two replicas send at once. */
export const LEASE_MS = 3 * MINUTE_MS;
/** How long an attempt may take. */
const ATTEMPT_MS = 2 * MINUTE_MS;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * MINUTE_MS;
/** Mails under way at once, so that a server that hangs over one does not hold up the rest. */
const LANES = 4;
const POLL_MS = 500;
const AWAY_MS = 5_000;

export interface Mailer {
  /** Tries one mail that is due; false where none is. Errors: the database's. */
  sendNext(): Promise<boolean>;
}

/** Sends what the queue holds, with leases, so that any number of replicas may. A mail that was sent is deleted. */
export function createMailer(options: {
  mails: Collection<MailDocument>;
  keys: readonly SecretKey[];
  transport: MailTransport;
  metrics: MailMetrics;
  logger: Logger;
  now: () => Date;
}): Mailer {
  const { mails, keys, transport, metrics, logger, now } = options;

  function claim(): Promise<MailDocument | null> {
    const at = now();
    return mails.findOneAndUpdate(
      { next_attempt_at: { $lte: at } },
      { $set: { next_attempt_at: new Date(at.getTime() + LEASE_MS) }, $inc: { attempts: 1 } },
      { sort: { next_attempt_at: 1 }, returnDocument: "after" },
    );
  }

  async function failed(mail: MailDocument, err: unknown): Promise<void> {
    const at = now().getTime();
    const ids = { mail_id: mail._id, kind: mail.kind, attempt: mail.attempts };
    // Whoever claimed it since then, as this attempt took too long, decides what becomes of it.
    const mine = { _id: mail._id, attempts: mail.attempts };
    const next = at + retryMs(mail.attempts);
    if (err instanceof MailRefusedError || next >= mail.created_at.getTime() + GIVE_UP_MS) {
      await mails.deleteOne(mine);
      metrics.attempted("given_up");
      logger.error({ ...ids, err }, "a mail is given up");
      return;
    }
    await mails.updateOne(mine, { $set: { next_attempt_at: new Date(next) } });
    metrics.attempted("failed");
    logger.warn({ ...ids, err, next_attempt_at: new Date(next) }, "a mail could not be sent; it is tried again");
  }

  return {
    async sendNext() {
      const claimed = await claim();
      if (!claimed) return false;
      try {
        await withinMs(ATTEMPT_MS, transport.send(claimed._id, mailOf(keys, claimed)));
      } catch (error) {
        await failed(claimed, error);
        return true;
      }
      await mails.deleteOne({ _id: claimed._id });
      metrics.attempted("sent");
      logger.info({ mail_id: claimed._id, kind: claimed.kind, attempt: claimed.attempts }, "a mail was sent");
      return true;
    },
  };
}

/** Keeps a mailer at work until stopped; resolves when nothing is under way any more. */
export function runMailer(mailer: Mailer, logger: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const pause = (ms: number) => wait(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  async function lane(): Promise<void> {
    for (let failing = false; !stopping.signal.aborted; ) {
      try {
        if (!(await mailer.sendNext())) await pause(POLL_MS);
        failing = false;
      } catch (err) {
        if (!failing) logger.error({ err }, "mails can't be looked for; trying until they can");
        failing = true;
        await pause(AWAY_MS);
      }
    }
  }

  const lanes = Array.from({ length: LANES }, lane);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };
}

async function withinMs(ms: number, sending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${ms} ms`)), ms);
  });
  try {
    await Promise.race([sending, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Twice as long each time, and not all at the same moment. */
function retryMs(attempts: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 10)) * (0.75 + Math.random() / 4);
}
