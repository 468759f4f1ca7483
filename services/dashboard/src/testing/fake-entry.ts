import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { EntryService } from "@vvs/proto/account/v1/entry";
import { fakePart } from "./fake-part.ts";
import { beginSession, EMAIL } from "./fake-sessions.ts";
import type { FakeState } from "./fake-state.ts";

/** Token of the only valid link. */
export const LINK_TOKEN = "token-of-the-one-good-link";
/** Password of the only sign-up. */
export const SIGN_UP_PASSWORD = "chosen at the sign-up";

/** Simulates account for people without a session: one sign-up and one password reset wait for their links to be opened. */
export function entryPart(state: FakeState) {
  const note = (method: string, request: object) => state.calls.push(`${method} ${JSON.stringify(request)}`);
  const expectGood = (token: string) => {
    if (token !== LINK_TOKEN) throw new ServiceError("not_found", { message: "This link was used already." });
  };
  return fakePart(EntryService, state, {
    quiet: {
      getEntryOptions: async () => ({ signUpOpen: state.signUpOpen, mailSent: state.mailSent }),
      async signUp({ organizationName, email: typed, clientAddress }) {
        note("signUp", { organizationName, email: typed, clientAddress });
        return {};
      },
      async resendSignUp({ email: typed, clientAddress }) {
        note("resendSignUp", { email: typed, clientAddress });
        return {};
      },
      async getSignUp({ token }) {
        expectGood(token);
        return { email: EMAIL, organizationName: "Acme & Sons" };
      },
      async confirmSignUp({ token, password, clientAddress }) {
        note("confirmSignUp", { clientAddress });
        expectGood(token);
        if (password !== SIGN_UP_PASSWORD) throw new ServiceError("unauthorized", { message: "This is not it." });
        return beginSession(state);
      },
      async requestPasswordReset({ email: typed, clientAddress, deviceToken }) {
        note("requestPasswordReset", { email: typed, clientAddress, ...(deviceToken && { deviceToken }) });
        return {};
      },
      async getPasswordReset({ token }) {
        expectGood(token);
        return { email: EMAIL, passkeys: state.passkeys.length };
      },
      async resetPassword({ token, removePasskeys, clientAddress }) {
        note("resetPassword", { clientAddress, ...(removePasskeys && { removePasskeys }) });
        expectGood(token);
        return {};
      },
      async listMailbox() {
        const receivedAt = timestampFromDate(new Date("2026-11-20T08:00:00Z"));
        return {
          mails: state.mails.map((text, place) => ({ id: `mail_${place}`, to: EMAIL, subject: "S", text, receivedAt })),
        };
      },
    },
  });
}
