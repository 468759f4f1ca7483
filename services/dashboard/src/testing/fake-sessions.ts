import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { SessionSchema, SessionService } from "@vvs/proto/account/v1/sessions";
import type { Handlers } from "@vvs/rpc";
import { type FakeState, failIfAsked } from "./fake-state.ts";

/** The code that the user's authenticator app shows. */
export const CODE = "123456";
export const RECOVERY_CODES = ["aaaa-bbbb-cccc-dddd", "eeee-ffff-gggg-hhhh"];

type SessionMessage = MessageInitShape<typeof SessionSchema>;
type SessionHandlers = Pick<
  Handlers<typeof SessionService>,
  | "listSessions"
  | "endSession"
  | "endOtherSessions"
  | "reauthenticate"
  | "changePassword"
  | "finishSignIn"
  | "getSecondFactor"
  | "beginTotp"
  | "enableTotp"
  | "disableTotp"
>;

/** The refusal of a wrong password. */
const notYours = (path: string) =>
  new ServiceError("invalid_request", { details: [{ path, message: "is not your password" }] });

/** Simulates the sessions of the only user. A session's id is its token reversed. */
export function sessionHandlers(
  state: FakeState,
  options: { password: string; session: () => SessionMessage },
): SessionHandlers {
  const idOf = (token: string) => [...token].reverse().join("");
  const tokenOf = (caller: { sessionToken: string } | undefined) => {
    const token = caller?.sessionToken ?? "";
    if (!state.sessions.has(token)) throw new ServiceError("unauthorized");
    return token;
  };
  const replaced = (before: string) => {
    const sessionToken = `token-${randomUUID()}`;
    state.sessions.delete(before);
    state.sessions.add(sessionToken);
    state.authenticatedAt = new Date();
    return { sessionToken, session: options.session() };
  };
  return {
    async finishSignIn({ secondStepToken, code }) {
      failIfAsked(state, "finishSignIn");
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
      return { secret: "GEZDGNBVGY3TQOJQ", uri: "otpauth://totp/Vendor%20Verification%3Aada?secret=GEZDGNBVGY3TQOJQ" };
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
      failIfAsked(state, "reauthenticate");
      const before = tokenOf(caller);
      if (password !== options.password) throw notYours("password");
      return replaced(before);
    },
    async changePassword({ caller, currentPassword, password }) {
      failIfAsked(state, "changePassword");
      const before = tokenOf(caller);
      if (currentPassword !== options.password) throw notYours("current_password");
      state.calls.push(`changePassword ${password.length}`);
      state.sessions.clear();
      return replaced(before);
    },
    async listSessions({ caller }) {
      failIfAsked(state, "listSessions");
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
  };
}
