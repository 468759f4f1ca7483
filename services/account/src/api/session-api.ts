import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { EmailUnconfirmedError, SecondStepError } from "../sign-in/sign-in.ts";
import { begunMessage, sessionCallerOf, sessionMessage, sessionSummaryMessage } from "./messages.ts";
import { type RecordedPeople, recordedSignIn } from "./recorded.ts";

export function createSessionPart(options: RecordedPeople): ServicePart {
  const { signIns, sessions, ownPassword, secondFactor } = options.domain;
  return servicePart({
    service: SessionService,
    callers: onlyFor(SessionService, "dashboard"),
    // It is what decides whose call another one is.
    unqueued: ["getSession"],
    handlers: {
      async signIn(request) {
        try {
          const signIn = () => signIns.signIn(request);
          return begunMessage(await recordedSignIn(options, "password", request, signIn, explainPassword));
        } catch (error) {
          if (error instanceof SecondStepError) return { secondStepToken: error.secondStepToken };
          if (error instanceof EmailUnconfirmedError) return { emailUnconfirmed: true };
          throw error;
        }
      },

      async finishSignIn(request) {
        return begunMessage(await recordedSignIn(options, "code", request, () => signIns.finish(request)));
      },

      async getSecondFactor({ caller }) {
        const { enabledAt, recoveryCodesLeft } = await secondFactor.get(sessionCallerOf(caller));
        return { enabledAt: enabledAt && timestampFromDate(enabledAt), recoveryCodesLeft };
      },

      beginTotp: ({ caller }) => secondFactor.beginTotp(sessionCallerOf(caller)),

      async enableTotp({ caller, code }) {
        return { recoveryCodes: await secondFactor.enableTotp(sessionCallerOf(caller), code) };
      },

      async disableTotp({ caller }) {
        await secondFactor.disableTotp(sessionCallerOf(caller));
        return {};
      },

      async getSession({ sessionToken }) {
        return { session: sessionMessage(await signIns.getSession(sessionToken)) };
      },

      async signOut({ sessionToken, clientAddress }) {
        await signIns.signOut(sessionToken, clientAddress);
        return {};
      },

      async listSessions({ caller }) {
        return { sessions: (await sessions.list(sessionCallerOf(caller))).map(sessionSummaryMessage) };
      },

      async endSession({ caller, sessionId }) {
        await sessions.end(sessionCallerOf(caller), sessionId);
        return {};
      },

      async endOtherSessions({ caller }) {
        return { ended: await sessions.endOthers(sessionCallerOf(caller)) };
      },

      async reauthenticate({ caller, password }) {
        return begunMessage(await ownPassword.reauthenticate(sessionCallerOf(caller), password));
      },

      async changePassword({ caller, currentPassword: current, password }) {
        return begunMessage(await ownPassword.change(sessionCallerOf(caller), { current, password }));
      },
    },
  });
}

function explainPassword(error: unknown): { outcome: string } {
  if (error instanceof SecondStepError) return { outcome: "second_step" };
  if (error instanceof EmailUnconfirmedError) return { outcome: "email_unconfirmed" };
  return { outcome: ServiceError.from(error).code };
}
