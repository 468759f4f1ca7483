import type { SecretKey } from "@vvs/config";
import type { Logger } from "@vvs/logging";
import { superviseLoop, within } from "@vvs/retry";
import type { Collection } from "mongodb";
import type { MailDocument } from "../model/mail.ts";
import { MailRefusedError, type MailTransport } from "../model/mail.ts";
import type { MailMetrics } from "./metrics.ts";
import { mailOf } from "./queue.ts";

const MINUTE_MS = 60_000;
/** How long an email is retried, from when it was queued. Its links have expired by then. */
export const GIVE_UP_MS = 24 * 60 * MINUTE_MS;
/** How long a replica claims an email. Longer than an attempt can take, so that no two replicas send it at the same time. */
export const LEASE_MS = 3 * MINUTE_MS;
/** Maximum duration of an attempt. */
const ATTEMPT_MS = 2 * MINUTE_MS;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * MINUTE_MS;
/** Maximum number of emails in flight per replica, so that one that hangs does not delay the others. */
const CONCURRENCY = 4;
const POLL_MS = 500;
const DATABASE_RETRY_MS = 5_000;

export type Mailer = ReturnType<typeof createMailer>;

/** Sends queued emails and deletes them once sent. Each is leased, so that any number of replicas can run a mailer. */
export function createMailer(options: {
  mails: Collection<MailDocument>;
  keys: readonly SecretKey[];
  transport: MailTransport;
  metrics: MailMetrics;
  logger: Logger;
  now: () => Date;
}) {
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
    // Matches nothing if the lease expired and another replica has claimed the email since.
    const mine = { _id: mail._id, attempts: mail.attempts };
    const next = at + retryMs(mail.attempts);
    if (err instanceof MailRefusedError || next >= mail.created_at.getTime() + GIVE_UP_MS) {
      await mails.deleteOne(mine);
      metrics.attempted("given_up");
      logger.error({ ...ids, err }, "email given up");
      return;
    }
    await mails.updateOne(mine, { $set: { next_attempt_at: new Date(next) } });
    metrics.attempted("failed");
    logger.warn({ ...ids, err, next_attempt_at: new Date(next) }, "email could not be sent; it will be retried");
  }

  return {
    /** Attempts to send one email that is due. Returns false if none is due. Errors: those of the database. */
    async sendNext(): Promise<boolean> {
      const claimed = await claim();
      if (!claimed) return false;
      try {
        const sending = transport.send(claimed._id, mailOf(keys, claimed));
        await within(ATTEMPT_MS, `the attempt took longer than ${ATTEMPT_MS} ms`, sending);
      } catch (error) {
        await failed(claimed, error);
        return true;
      }
      await mails.deleteOne({ _id: claimed._id });
      metrics.attempted("sent");
      logger.info({ mail_id: claimed._id, kind: claimed.kind, attempt: claimed.attempts }, "email sent");
      return true;
    },
  };
}

/** Runs a mailer until it is stopped. `stop` resolves when no attempt is in flight. */
export function runMailer(mailer: Mailer, logger: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const workers = Array.from({ length: CONCURRENCY }, () =>
    superviseLoop({
      round: async () => ((await mailer.sendNext()) ? 0 : POLL_MS),
      failure: "reading queued emails fails; retrying until it succeeds",
      recovery: "reading queued emails succeeds again",
      backoff: { firstMs: DATABASE_RETRY_MS, longestMs: DATABASE_RETRY_MS },
      stopping: stopping.signal,
      logger,
    }),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.ended()));
    },
  };
}

/** The wait doubles with each attempt, with up to 25 % of jitter. */
function retryMs(attempts: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 10)) * (0.75 + Math.random() / 4);
}
