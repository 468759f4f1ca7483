import { setTimeout as wait } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import type { Mailbox } from "./mail/mailbox.ts";
import { sessionMessage } from "./messages.ts";
import type { AccountMetrics } from "./metrics.ts";
import type { AccountDomain } from "./provision.ts";

/** What an answer takes at least, so that its time does not tell whether a mail was written. */
const ANSWER_MS = 250;

const callers: Callers<typeof EntryService> = {
  getEntryOptions: ["dashboard"],
  signUp: ["dashboard"],
  resendSignUp: ["dashboard"],
  getSignUp: ["dashboard"],
  confirmSignUp: ["dashboard"],
  requestPasswordReset: ["dashboard"],
  getPasswordReset: ["dashboard"],
  resetPassword: ["dashboard"],
  listMailbox: ["dashboard"],
};

/** EntryService: for people who can't sign in yet, or not any more. */
export function createEntryPart(options: {
  domain: Pick<
    AccountDomain,
    | "signUp"
    | "resendSignUp"
    | "getSignUp"
    | "confirmSignUp"
    | "requestPasswordReset"
    | "getPasswordReset"
    | "resetPassword"
  >;
  signUpOpen: boolean;
  mailSent: boolean;
  /** Of a local run alone. */
  mailbox: Pick<Mailbox, "list"> | undefined;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  const { domain, signUpOpen, mailSent, mailbox, metrics, logger } = options;

  /** Runs a step, and tells the log and the metrics what came of it. */
  async function told<T extends object>(step: string, clientAddress: string, run: () => Promise<T>): Promise<T> {
    const tell = (outcome: string) => {
      metrics.entry(step, outcome);
      logger.info({ step, outcome, client_address: clientAddress }, "entry");
    };
    try {
      const result = await run();
      tell("ok");
      return result;
    } catch (error) {
      tell(ServiceError.from(error).code);
      throw error;
    }
  }

  async function quietly(run: Promise<void>): Promise<object> {
    await Promise.all([run, wait(ANSWER_MS)]);
    return {};
  }

  return servicePart({
    service: EntryService,
    callers,
    handlers: {
      getEntryOptions: async () => ({ signUpOpen, mailSent }),

      signUp: ({ organizationName, email, password, clientAddress }) =>
        told("sign_up", clientAddress, () =>
          quietly(domain.signUp({ organizationName, email, password, clientAddress })),
        ),

      resendSignUp: ({ email, clientAddress }) =>
        told("resend_sign_up", clientAddress, () => quietly(domain.resendSignUp({ email, clientAddress }))),

      getSignUp: ({ token }) => domain.getSignUp(token),

      confirmSignUp: ({ token, password, clientAddress, userAgent }) =>
        told("confirm_sign_up", clientAddress, async () => {
          const confirmed = await domain.confirmSignUp({ token, password, clientAddress, userAgent });
          return { sessionToken: confirmed.token, session: sessionMessage(confirmed.session) };
        }),

      requestPasswordReset: ({ email, clientAddress }) =>
        told("request_password_reset", clientAddress, () =>
          quietly(domain.requestPasswordReset({ email, clientAddress })),
        ),

      getPasswordReset: ({ token }) => domain.getPasswordReset(token),

      resetPassword: ({ token, password, clientAddress }) =>
        told("reset_password", clientAddress, async () => {
          await domain.resetPassword({ token, password, clientAddress });
          return {};
        }),

      async listMailbox() {
        if (!mailbox) throw new ServiceError("not_found", { message: "Mails are sent here, and not kept." });
        const mails = await mailbox.list();
        return {
          mails: mails.map(({ _id, to, subject, text, received_at }) => ({
            id: _id,
            to,
            subject,
            text,
            receivedAt: timestampFromDate(received_at),
          })),
        };
      },
    },
  });
}
