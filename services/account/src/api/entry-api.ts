import { setTimeout as wait } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import type { Mailbox } from "../mail/mailbox.ts";
import { begunMessage } from "./messages.ts";
import type { RecordedPeople } from "./recorded.ts";

/** Minimum duration of an answer in milliseconds, so that it does not reveal whether an email was queued. */
const ANSWER_MS = 250;

/** EntryService, for people who have no account yet or forgot their password. */
export function createEntryPart(
  options: RecordedPeople & {
    signUpOpen: boolean;
    mailSent: boolean;
    /** Only in a local run. */
    mailbox: Pick<Mailbox, "list"> | undefined;
  },
): ServicePart {
  const { domain, signUpOpen, mailSent, mailbox, metrics, logger } = options;

  /** Runs a step, and logs and counts its outcome. */
  async function recorded<T extends object>(
    step: string,
    { clientAddress }: { readonly clientAddress: string },
    run: () => Promise<T>,
  ): Promise<T> {
    const record = (outcome: string) => {
      metrics.entry(step, outcome);
      logger.info({ step, outcome, client_address: clientAddress }, "entry");
    };
    try {
      const result = await run();
      record("ok");
      return result;
    } catch (error) {
      record(ServiceError.from(error).code);
      throw error;
    }
  }

  async function quietly(run: Promise<void>): Promise<object> {
    await Promise.all([run, outside(() => wait(ANSWER_MS))]);
    return {};
  }

  return servicePart({
    service: EntryService,
    callers: onlyFor(EntryService, "dashboard"),
    handlers: {
      getEntryOptions: async () => ({ signUpOpen, mailSent }),

      signUp: (request) => recorded("sign_up", request, () => quietly(domain.signUps.begin(request))),

      resendSignUp: (request) => recorded("resend_sign_up", request, () => quietly(domain.signUps.resend(request))),

      getSignUp: ({ token }) => domain.signUps.get(token),

      confirmSignUp: (request) =>
        recorded("confirm_sign_up", request, async () => begunMessage(await domain.signUps.confirm(request))),

      requestPasswordReset: (request) =>
        recorded("request_password_reset", request, () => quietly(domain.passwordResets.request(request))),

      getPasswordReset: ({ token }) => domain.passwordResets.get(token),

      resetPassword: (request) =>
        recorded("reset_password", request, async () => {
          await domain.passwordResets.complete(request);
          return {};
        }),

      async listMailbox() {
        if (!mailbox) throw new ServiceError("not_found", { message: "There is no mailbox: emails are sent." });
        const mails = (await mailbox.list()).map(({ _id: id, to, subject, text, received_at }) => {
          return { id, to, subject, text, receivedAt: timestampFromDate(received_at) };
        });
        return { mails };
      },
    },
  });
}
