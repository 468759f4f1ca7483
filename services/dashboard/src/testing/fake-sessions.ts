import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { fakePart } from "./fake-part.ts";
import type { FakeState } from "./fake-state.ts";

export const EMAIL = "ada@acme.example";
export const PASSWORD = "correct horse battery staple";
export const DEVICE_TOKEN = "device-of-the-one-user";
/** The code that the user's authenticator app shows. */
export const CODE = "123456";
export const RECOVERY_CODES = ["aaaa-bbbb-cccc-dddd", "eeee-ffff-gggg-hhhh"];

/** The refusal of a wrong password. */
const notYours = (path: string) =>
  new ServiceError("invalid_request", { details: [{ path, message: "is not your password" }] });

/** The session of the only user. */
const sessionOf = ({ userId, role, isOperator, identityProviderId, authenticatedAt }: FakeState) => ({
  userId,
  identityProviderId,
  email: EMAIL,
  organizationId: "org_1",
  organizationName: "Acme & Sons",
  role,
  isOperator,
  authenticatedAt: timestampFromDate(authenticatedAt),
  expiresAt: timestampFromDate(new Date(Date.now() + 3_600_000)),
});

/** Begins a session of the only user. */
export function beginSession(state: FakeState) {
  const sessionToken = `token-${randomUUID()}`;
  state.sessions.add(sessionToken);
  return { sessionToken, session: sessionOf(state) };
}

/** Simulates the sessions of the only user. A session's id is its token reversed. */
export function sessionPart(state: FakeState) {
  const idOf = (token: string) => [...token].reverse().join("");
  const tokenOf = (caller: { sessionToken: string } | undefined) => {
    const token = caller?.sessionToken ?? "";
    if (!state.sessions.has(token)) throw new ServiceError("unauthorized");
    return token;
  };
  const replaced = (before: string) => {
    state.sessions.delete(before);
    state.authenticatedAt = new Date();
    return beginSession(state);
  };
  return fakePart(SessionService, state, {
    quiet: {
      async signIn({ email, password, clientAddress, deviceToken }, { signal }) {
        const noted = { email, clientAddress, ...(deviceToken && { deviceToken }) };
        state.calls.push(`signIn ${JSON.stringify(noted)}`);
        state.hangUp.resolve(signal);
        await state.gate;
        if (email !== EMAIL || password !== PASSWORD) throw new ServiceError("unauthorized");
        if (state.unconfirmed) return { emailUnconfirmed: true };
        if (!state.hasApp) return { ...beginSession(state), deviceToken: DEVICE_TOKEN };
        const secondStepToken = `second-step-${randomUUID()}`;
        state.secondSteps.add(secondStepToken);
        return { secondStepToken };
      },
      async getSession({ sessionToken }) {
        if (!state.sessions.has(sessionToken)) throw new ServiceError("unauthorized");
        return { session: sessionOf(state) };
      },
      async signOut({ sessionToken }) {
        state.calls.push("signOut ");
        state.sessions.delete(sessionToken);
        return {};
      },
      async finishSignIn({ secondStepToken, code }) {
        if (!state.secondSteps.has(secondStepToken) || code !== CODE) {
          throw new ServiceError("unauthorized", { message: "The code is wrong, was used before, or came too late." });
        }
        return replaced("");
      },
      async getSecondFactor({ caller }) {
        tokenOf(caller);
        const enabledAt = timestampFromDate(new Date("2026-11-20T08:00:00Z"));
        return state.hasApp ? { enabledAt, recoveryCodesLeft: 9 } : { recoveryCodesLeft: 0 };
      },
      async beginTotp({ caller }) {
        tokenOf(caller);
        const secret = "GEZDGNBVGY3TQOJQ";
        return { secret, uri: `otpauth://totp/Vendor%20Verification%3Aada?secret=${secret}` };
      },
      async enableTotp({ caller, code }) {
        tokenOf(caller);
        const details = [{ path: "code", message: "is not what the app shows now" }];
        if (code !== CODE) throw new ServiceError("invalid_request", { details });
        state.hasApp = true;
        return { recoveryCodes: RECOVERY_CODES };
      },
      async disableTotp({ caller }) {
        tokenOf(caller);
        state.hasApp = false;
        return {};
      },
      async reauthenticate({ caller, password }) {
        const before = tokenOf(caller);
        if (password !== PASSWORD) throw notYours("password");
        return replaced(before);
      },
      async changePassword({ caller, currentPassword, password }) {
        const before = tokenOf(caller);
        if (currentPassword !== PASSWORD) throw notYours("current_password");
        state.calls.push(`changePassword ${password.length}`);
        state.sessions.clear();
        return replaced(before);
      },
      async listSessions({ caller }) {
        const current = tokenOf(caller);
        const sessions = [...state.sessions].map((token) => ({
          id: idOf(token),
          beganAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")),
          lastUsedAt: timestampFromDate(new Date("2026-11-20T09:30:00Z")),
          clientAddress: "203.0.113.9",
          userAgent: state.userAgent,
          isCurrent: token === current,
        }));
        return { sessions };
      },
      async endSession({ caller, sessionId }) {
        tokenOf(caller);
        state.calls.push(`endSession ${sessionId}`);
        state.sessions.delete(idOf(sessionId));
        return {};
      },
      async endOtherSessions({ caller }) {
        const current = tokenOf(caller);
        state.calls.push("endOtherSessions");
        const others = [...state.sessions].filter((token) => token !== current);
        for (const token of others) state.sessions.delete(token);
        return { ended: others.length };
      },
    },
  });
}
