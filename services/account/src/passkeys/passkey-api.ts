import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { type PasskeySchema, PasskeyService } from "@vvs/proto/account/v1/passkeys";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import type { AccountDomain } from "../domain.ts";
import { sessionCallerOf, sessionMessage } from "../messages.ts";
import type { AccountMetrics } from "../metrics.ts";
import type { PasskeyDocument } from "../store.ts";

const callers: Callers<typeof PasskeyService> = {
  listPasskeys: ["dashboard"],
  beginPasskeyRegistration: ["dashboard"],
  addPasskey: ["dashboard"],
  removePasskey: ["dashboard"],
  beginPasskeySignIn: ["dashboard"],
  signInWithPasskey: ["dashboard"],
  beginPasskeyReauthentication: ["dashboard"],
  reauthenticateWithPasskey: ["dashboard"],
};

/** PasskeyService. */
export function createPasskeyPart(options: {
  domain: AccountDomain;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  const { domain, metrics, logger } = options;
  const record = (outcome: string, ids: object) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step: "passkey", ...ids }, "sign-in");
  };
  const handlers: Handlers<typeof PasskeyService> = {
    async listPasskeys({ caller }) {
      return { passkeys: (await domain.passkeys.list(sessionCallerOf(caller))).map(passkeyMessage) };
    },

    async beginPasskeyRegistration({ caller }) {
      return { optionsJson: await domain.passkeys.beginRegistration(sessionCallerOf(caller)) };
    },

    async addPasskey({ caller, name, responseJson: response }) {
      return { passkey: passkeyMessage(await domain.passkeys.add(sessionCallerOf(caller), { name, response })) };
    },

    async removePasskey({ caller, passkeyId }) {
      await domain.passkeys.remove(sessionCallerOf(caller), passkeyId);
      return {};
    },

    async beginPasskeySignIn({ clientAddress }) {
      const { ceremonyToken, options: optionsJson } = await domain.passkeySignIns.begin(clientAddress);
      return { ceremonyToken, optionsJson };
    },

    async signInWithPasskey({ responseJson: response, ceremonyToken, clientAddress, userAgent }) {
      const ids = { client_address: clientAddress };
      try {
        const input = { response, ceremonyToken, clientAddress, userAgent };
        const { token, session } = await domain.passkeySignIns.signIn(input);
        record("ok", { ...ids, user_id: session.userId, organization_id: session.organizationId });
        return { sessionToken: token, session: sessionMessage(session) };
      } catch (error) {
        record(ServiceError.from(error).code, ids);
        throw error;
      }
    },

    async beginPasskeyReauthentication({ caller }) {
      return { optionsJson: await domain.passkeySignIns.beginReauthentication(sessionCallerOf(caller)) };
    },

    async reauthenticateWithPasskey({ caller, responseJson }) {
      const { token, session } = await domain.passkeySignIns.reauthenticate(sessionCallerOf(caller), responseJson);
      return { sessionToken: token, session: sessionMessage(session) };
    },
  };
  return servicePart({ service: PasskeyService, handlers, callers });
}

function passkeyMessage(passkey: PasskeyDocument): MessageInitShape<typeof PasskeySchema> {
  return {
    id: passkey._id,
    name: passkey.name,
    createdAt: timestampFromDate(passkey.created_at),
    lastUsedAt: passkey.last_used_at && timestampFromDate(passkey.last_used_at),
  };
}
