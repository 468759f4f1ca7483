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
  const expectGood = (token: string) => {
    if (token !== LINK_TOKEN) throw new ServiceError("not_found", { message: "This link was used already." });
  };
  return fakePart(EntryService, state, {
    recorded: {
      signUp: async () => ({}),
      resendSignUp: async () => ({}),
      requestPasswordReset: async () => ({}),
      async resetPassword({ token }) {
        expectGood(token);
        return {};
      },
    },
    quiet: {
      getEntryOptions: async () => ({ signUpOpen: state.signUpOpen, mailSent: state.mailSent }),
      async getSignUp({ token }) {
        expectGood(token);
        return { email: EMAIL, organizationName: "Acme & Sons" };
      },
      async confirmSignUp({ token, password }) {
        expectGood(token);
        if (password !== SIGN_UP_PASSWORD) throw new ServiceError("unauthorized", { message: "This is not it." });
        return beginSession(state);
      },
      async getPasswordReset({ token }) {
        expectGood(token);
        return { email: EMAIL, passkeys: state.passkeys.length };
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
