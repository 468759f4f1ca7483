import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import type { SessionSchema } from "@vvs/proto/account/v1/sessions";
import { type Handlers, onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { type FakeState, failIfAsked } from "./fake-state.ts";

/** A valid answer of the browser's device. */
export const PASSKEY_RESPONSE = '{"id":"the-one-passkey"}';

/** Simulates the passkeys of the only user. */
export function passkeyPart(
  state: FakeState,
  options: { session: () => MessageInitShape<typeof SessionSchema> },
): ServicePart {
  const expectCaller = (caller: { sessionToken: string } | undefined) => {
    if (!state.sessions.has(caller?.sessionToken ?? "")) throw new ServiceError("unauthorized");
  };
  const begun = () => {
    const sessionToken = `token-${randomUUID()}`;
    state.sessions.add(sessionToken);
    state.authenticatedAt = new Date();
    return { sessionToken, session: options.session() };
  };
  const optionsJson = '{"challenge":"Y2hhbGxlbmdl","text":"\\"><script>"}';
  const wrong = (message: string) => new ServiceError("invalid_request", { details: [{ path: "response", message }] });

  const ceremonies = new Set<string>();

  const handlers: Handlers<typeof PasskeyService> = {
    async listPasskeys({ caller }) {
      expectCaller(caller);
      return { passkeys: state.passkeys };
    },
    async beginPasskeyRegistration({ caller }) {
      expectCaller(caller);
      return { optionsJson };
    },
    async addPasskey({ caller, name, responseJson }) {
      failIfAsked(state, "addPasskey");
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
      failIfAsked(state, "beginPasskeySignIn");
      const ceremonyToken = `ceremony-${randomUUID()}`;
      ceremonies.add(ceremonyToken);
      return { ceremonyToken, optionsJson };
    },
    async signInWithPasskey({ ceremonyToken, responseJson }) {
      failIfAsked(state, "signInWithPasskey");
      if (!ceremonies.delete(ceremonyToken) || responseJson !== PASSKEY_RESPONSE) {
        throw new ServiceError("unauthorized", { message: "This passkey does not sign in here, or it took too long." });
      }
      return begun();
    },
    async beginPasskeyReauthentication({ caller }) {
      expectCaller(caller);
      return { optionsJson };
    },
    async reauthenticateWithPasskey({ caller, responseJson }) {
      expectCaller(caller);
      if (responseJson !== PASSKEY_RESPONSE) throw wrong("is not of one of your passkeys, or came too late");
      state.sessions.delete(caller!.sessionToken);
      return begun();
    },
  };
  return servicePart({ service: PasskeyService, handlers, callers: onlyFor(PasskeyService, "dashboard") });
}
