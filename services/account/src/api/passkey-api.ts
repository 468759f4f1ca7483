import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type PasskeySchema, PasskeyService } from "@vvs/proto/account/v1/passkeys";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import type { PasskeyDocument } from "../store.ts";
import { begunMessage, sessionCallerOf } from "./messages.ts";
import { type RecordedPeople, recordedSignIn } from "./recorded.ts";

export function createPasskeyPart(options: RecordedPeople): ServicePart {
  const { passkeys, passkeySignIns } = options.domain;
  return servicePart({
    service: PasskeyService,
    callers: onlyFor(PasskeyService, "dashboard"),
    handlers: {
      async listPasskeys({ caller }) {
        return { passkeys: (await passkeys.list(sessionCallerOf(caller))).map(passkeyMessage) };
      },

      async beginPasskeyRegistration({ caller }) {
        return { optionsJson: await passkeys.beginRegistration(sessionCallerOf(caller)) };
      },

      async addPasskey({ caller, name, responseJson: response }) {
        return { passkey: passkeyMessage(await passkeys.add(sessionCallerOf(caller), { name, response })) };
      },

      async removePasskey({ caller, passkeyId }) {
        await passkeys.remove(sessionCallerOf(caller), passkeyId);
        return {};
      },

      async beginPasskeySignIn() {
        const { ceremonyToken, options: optionsJson } = await passkeySignIns.begin();
        return { ceremonyToken, optionsJson };
      },

      async signInWithPasskey(request) {
        const signIn = () => passkeySignIns.signIn({ ...request, response: request.responseJson });
        return begunMessage(await recordedSignIn(options, "passkey", request, signIn));
      },

      async beginPasskeyReauthentication({ caller }) {
        return { optionsJson: await passkeySignIns.beginReauthentication(sessionCallerOf(caller)) };
      },

      async reauthenticateWithPasskey({ caller, responseJson }) {
        return begunMessage(await passkeySignIns.reauthenticate(sessionCallerOf(caller), responseJson));
      },
    },
  });
}

function passkeyMessage(passkey: PasskeyDocument): MessageInitShape<typeof PasskeySchema> {
  return {
    id: passkey._id,
    name: passkey.name,
    createdAt: timestampFromDate(passkey.created_at),
    lastUsedAt: passkey.last_used_at && timestampFromDate(passkey.last_used_at),
  };
}
