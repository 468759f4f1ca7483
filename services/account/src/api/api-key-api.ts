import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { KeyFeed } from "../api-keys/key-feed.ts";
import type { KeysDomain } from "../domain.ts";
import { missing } from "../refusals.ts";
import type { ApiKeyDocument } from "../store.ts";
import { emailsOfUsers } from "../users/users.ts";
import { apiKeyMessage } from "./messages.ts";

const allowed: Callers<typeof ApiKeyService> = {
  watchApiKeys: ["gateway"],
  getApiKey: ["gateway"],
  listApiKeys: ["dashboard"],
  createApiKey: ["dashboard"],
  rollApiKey: ["dashboard"],
  revokeApiKey: ["dashboard"],
};

export function createApiKeyPart({ domain, keyFeed }: { domain: KeysDomain; keyFeed: KeyFeed }): ServicePart {
  const { callersBySession: callers } = domain;
  return servicePart({
    service: ApiKeyService,
    callers: allowed,
    // It is what decides whose call another one is, and nothing that people do delays it.
    unqueued: ["getApiKey"],
    handlers: {
      async *watchApiKeys({ position }, { signal }) {
        for await (const step of keyFeed.watch(signal, position)) yield { step };
      },

      async getApiKey({ hashes }) {
        const key = await domain.keyRecords.byHashes(hashes);
        if (!key) throw missing("API key");
        return { key };
      },

      async listApiKeys({ caller }) {
        const { tenant } = callerOf(caller);
        const keys = await domain.apiKeys.list(tenant);
        const ids = keys.map(({ _id }) => _id);
        const [lastUses, emails] = await Promise.all([
          domain.usage.lastUses(tenant, ids),
          emailsOfUsers(domain.store, tenant.organizationId),
        ]);
        const known = (key: ApiKeyDocument) => ({
          lastUsedAt: lastUses.get(key._id),
          createdByEmail: emails.get(key.created_by),
        });
        return { keys: keys.map((key) => apiKeyMessage(key, known(key))) };
      },

      async createApiKey(request) {
        const { key, value } = await domain.apiKeys.create(await callers.confirmed(request), withDate(request));
        return { key: apiKeyMessage(key), value };
      },

      async rollApiKey(request) {
        const caller = await callers.confirmed(request);
        const { key, value, rolled } = await domain.apiKeys.roll(caller, withDate(request));
        return { key: apiKeyMessage(key), value, rolled: apiKeyMessage(rolled) };
      },

      async revokeApiKey(request) {
        // Without a recent confirmation, because a key that leaked must end immediately.
        const caller = await callers.signedIn(request);
        return { key: apiKeyMessage(await domain.apiKeys.revoke(caller, request.keyId)) };
      },
    },
  });
}

function withDate<R extends { readonly expiresAt?: Timestamp }>(request: R) {
  return { ...request, expiresAt: request.expiresAt && timestampDate(request.expiresAt) };
}
