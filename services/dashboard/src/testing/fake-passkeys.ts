import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import { fakePart } from "./fake-part.ts";
import { beginSession } from "./fake-sessions.ts";
import type { FakeState } from "./fake-state.ts";

/** A valid answer of the browser's device. */
export const PASSKEY_RESPONSE = '{"id":"the-one-passkey"}';

/** Simulates the passkeys of the only user. */
export function passkeyPart(state: FakeState) {
  const expectCaller = (caller: { sessionToken: string } | undefined) => {
    if (!state.sessions.has(caller?.sessionToken ?? "")) throw new ServiceError("unauthorized");
  };
  const begun = () => {
    state.authenticatedAt = new Date();
    return beginSession(state);
  };
  const begin = async ({ caller }: { caller?: { sessionToken: string } | undefined }) => {
    expectCaller(caller);
    return { optionsJson };
  };
  const optionsJson = '{"challenge":"Y2hhbGxlbmdl","text":"\\"><script>"}';
  const wrong = (message: string) => new ServiceError("invalid_request", { details: [{ path: "response", message }] });
  const ceremonies = new Set<string>();
  return fakePart(PasskeyService, state, {
    quiet: {
      async listPasskeys({ caller }) {
        expectCaller(caller);
        return { passkeys: state.passkeys };
      },
      beginPasskeyRegistration: begin,
      async addPasskey({ caller, name, responseJson }) {
        expectCaller(caller);
        if (responseJson !== PASSKEY_RESPONSE) throw wrong("is no passkey for this page, or came too late");
        const passkey = { id: "pky_1", name, createdAt: timestampFromDate(new Date("2026-11-20T08:00:00Z")) };
        state.passkeys.unshift(passkey);
        return { passkey };
      },
      async removePasskey({ caller, passkeyId }) {
        expectCaller(caller);
        state.calls.push(`removePasskey ${passkeyId}`);
        state.passkeys = state.passkeys.filter(({ id }) => id !== passkeyId);
        return {};
      },
      async beginPasskeySignIn() {
        const ceremonyToken = `ceremony-${randomUUID()}`;
        ceremonies.add(ceremonyToken);
        return { ceremonyToken, optionsJson };
      },
      async signInWithPasskey({ ceremonyToken, responseJson }) {
        if (!ceremonies.delete(ceremonyToken) || responseJson !== PASSKEY_RESPONSE) {
          const message = "This passkey does not sign in here, or it took too long.";
          throw new ServiceError("unauthorized", { message });
        }
        return begun();
      },
      beginPasskeyReauthentication: begin,
      async reauthenticateWithPasskey({ caller, responseJson }) {
        expectCaller(caller);
        if (responseJson !== PASSKEY_RESPONSE) throw wrong("is not of one of your passkeys, or came too late");
        state.sessions.delete(caller!.sessionToken);
        return begun();
      },
    },
  });
}
