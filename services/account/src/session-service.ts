import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { Handlers } from "@vvs/rpc";
import { sessionCallerOf, sessionMessage, sessionSummaryMessage } from "./messages.ts";
import type { AccountMetrics } from "./metrics.ts";
import type { AccountDomain } from "./provision.ts";
import { EmailUnconfirmedError, SecondStepError } from "./sign-in.ts";

type SessionHandlers = Pick<
  Handlers<typeof AccountService>,
  | "signIn"
  | "finishSignIn"
  | "getSession"
  | "signOut"
  | "listSessions"
  | "endSession"
  | "endOtherSessions"
  | "reauthenticate"
  | "changePassword"
  | "getSecondFactor"
  | "beginTotp"
  | "enableTotp"
  | "disableTotp"
>;

/** The handlers about users who sign in, and about what they do with their own account. */
export function createSessionHandlers(options: {
  domain: AccountDomain;
  metrics: AccountMetrics;
  logger: Logger;
}): SessionHandlers {
  const { domain, metrics, logger } = options;
  const tell = (step: string, outcome: string, ids: object) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step, ...ids }, "sign-in");
  };

  async function told(step: string, clientAddress: string, run: () => ReturnType<AccountDomain["signIn"]>) {
    const ids = { client_address: clientAddress };
    try {
      const { token, session } = await run();
      tell(step, "ok", { ...ids, user_id: session.userId, organization_id: session.organizationId });
      return { sessionToken: token, session: sessionMessage(session) };
    } catch (error) {
      tell(step, outcomeOf(error), ids);
      throw error;
    }
  }

  return {
    async signIn({ email, password, clientAddress, userAgent }) {
      try {
        return await told("password", clientAddress, () =>
          domain.signIn({ email, password, clientAddress, userAgent }),
        );
      } catch (error) {
        if (error instanceof SecondStepError) return { secondStepToken: error.secondStepToken };
        if (error instanceof EmailUnconfirmedError) return { emailUnconfirmed: true };
        throw error;
      }
    },

    finishSignIn: ({ secondStepToken, code, clientAddress, userAgent }) =>
      told("code", clientAddress, () => domain.finishSignIn({ secondStepToken, code, clientAddress, userAgent })),

    async getSecondFactor({ caller }) {
      const { enabledAt, recoveryCodesLeft } = await domain.getSecondFactor(sessionCallerOf(caller));
      return { enabledAt: enabledAt && timestampFromDate(enabledAt), recoveryCodesLeft };
    },

    beginTotp: ({ caller }) => domain.beginTotp(sessionCallerOf(caller)),

    async enableTotp({ caller, code }) {
      return { recoveryCodes: await domain.enableTotp(sessionCallerOf(caller), code) };
    },

    async disableTotp({ caller }) {
      await domain.disableTotp(sessionCallerOf(caller));
      return {};
    },

    async getSession({ sessionToken }) {
      return { session: sessionMessage(await domain.getSession(sessionToken)) };
    },

    async signOut({ sessionToken, clientAddress }) {
      await domain.signOut(sessionToken, clientAddress);
      return {};
    },

    async listSessions({ caller }) {
      return { sessions: (await domain.listSessions(sessionCallerOf(caller))).map(sessionSummaryMessage) };
    },

    async endSession({ caller, sessionId }) {
      await domain.endSession(sessionCallerOf(caller), sessionId);
      return {};
    },

    async endOtherSessions({ caller }) {
      return { ended: await domain.endOtherSessions(sessionCallerOf(caller)) };
    },

    async reauthenticate({ caller, password }) {
      const { token, session } = await domain.reauthenticate(sessionCallerOf(caller), password);
      return { sessionToken: token, session: sessionMessage(session) };
    },

    async changePassword({ caller, currentPassword: current, password }) {
      const { token, session } = await domain.changePassword(sessionCallerOf(caller), { current, password });
      return { sessionToken: token, session: sessionMessage(session) };
    },
  };
}

function outcomeOf(error: unknown): string {
  if (error instanceof SecondStepError) return "second_step";
  return error instanceof EmailUnconfirmedError ? "email_unconfirmed" : ServiceError.from(error).code;
}
