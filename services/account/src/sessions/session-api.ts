import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import type { AccountDomain } from "../domain.ts";
import { sessionCallerOf, sessionMessage, sessionSummaryMessage } from "../messages.ts";
import type { AccountMetrics } from "../metrics.ts";
import { EmailUnconfirmedError, SecondStepError, type SignIns } from "./sign-in.ts";

const callers: Callers<typeof SessionService> = {
  signIn: ["dashboard"],
  finishSignIn: ["dashboard"],
  getSession: ["dashboard"],
  signOut: ["dashboard"],
  listSessions: ["dashboard"],
  endSession: ["dashboard"],
  endOtherSessions: ["dashboard"],
  reauthenticate: ["dashboard"],
  changePassword: ["dashboard"],
  getSecondFactor: ["dashboard"],
  beginTotp: ["dashboard"],
  enableTotp: ["dashboard"],
  disableTotp: ["dashboard"],
};

/** SessionService. */
export function createSessionPart(options: {
  domain: AccountDomain;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  const { domain, metrics, logger } = options;
  const record = (step: string, outcome: string, ids: object) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step, ...ids }, "sign-in");
  };

  async function recorded(step: string, clientAddress: string, run: () => ReturnType<SignIns["signIn"]>) {
    const ids = { client_address: clientAddress };
    try {
      const { token, session } = await run();
      record(step, "ok", { ...ids, user_id: session.userId, organization_id: session.organizationId });
      return { sessionToken: token, session: sessionMessage(session) };
    } catch (error) {
      record(step, outcomeOf(error), ids);
      throw error;
    }
  }

  const handlers: Handlers<typeof SessionService> = {
    async signIn({ email, password, clientAddress, userAgent }) {
      try {
        return await recorded("password", clientAddress, () =>
          domain.signIns.signIn({ email, password, clientAddress, userAgent }),
        );
      } catch (error) {
        if (error instanceof SecondStepError) return { secondStepToken: error.secondStepToken };
        if (error instanceof EmailUnconfirmedError) return { emailUnconfirmed: true };
        throw error;
      }
    },

    finishSignIn: ({ secondStepToken, code, clientAddress, userAgent }) =>
      recorded("code", clientAddress, () => domain.signIns.finish({ secondStepToken, code, clientAddress, userAgent })),

    async getSecondFactor({ caller }) {
      const { enabledAt, recoveryCodesLeft } = await domain.secondFactor.get(sessionCallerOf(caller));
      return { enabledAt: enabledAt && timestampFromDate(enabledAt), recoveryCodesLeft };
    },

    beginTotp: ({ caller }) => domain.secondFactor.beginTotp(sessionCallerOf(caller)),

    async enableTotp({ caller, code }) {
      return { recoveryCodes: await domain.secondFactor.enableTotp(sessionCallerOf(caller), code) };
    },

    async disableTotp({ caller }) {
      await domain.secondFactor.disableTotp(sessionCallerOf(caller));
      return {};
    },

    async getSession({ sessionToken }) {
      return { session: sessionMessage(await domain.signIns.getSession(sessionToken)) };
    },

    async signOut({ sessionToken, clientAddress }) {
      await domain.signIns.signOut(sessionToken, clientAddress);
      return {};
    },

    async listSessions({ caller }) {
      return { sessions: (await domain.sessions.list(sessionCallerOf(caller))).map(sessionSummaryMessage) };
    },

    async endSession({ caller, sessionId }) {
      await domain.sessions.end(sessionCallerOf(caller), sessionId);
      return {};
    },

    async endOtherSessions({ caller }) {
      return { ended: await domain.sessions.endOthers(sessionCallerOf(caller)) };
    },

    async reauthenticate({ caller, password }) {
      const { token, session } = await domain.ownPassword.reauthenticate(sessionCallerOf(caller), password);
      return { sessionToken: token, session: sessionMessage(session) };
    },

    async changePassword({ caller, currentPassword: current, password }) {
      const { token, session } = await domain.ownPassword.change(sessionCallerOf(caller), { current, password });
      return { sessionToken: token, session: sessionMessage(session) };
    },
  };
  return servicePart({ service: SessionService, handlers, callers });
}

function outcomeOf(error: unknown): string {
  if (error instanceof SecondStepError) return "second_step";
  return error instanceof EmailUnconfirmedError ? "email_unconfirmed" : ServiceError.from(error).code;
}
