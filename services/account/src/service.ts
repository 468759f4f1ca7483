import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { Callers, Handlers } from "@vvs/rpc";
import { callerOf, tenantOf } from "@vvs/tenant";
import type { KeyFeed } from "./key-feed.ts";
import {
  apiKeyMessage,
  keyRecordMessage,
  organizationMessage,
  watchMessage,
  webhookSecretMessage,
} from "./messages.ts";
import type { AccountMetrics } from "./metrics.ts";
import type { AccountDomain } from "./provision.ts";
import { createSessionHandlers } from "./session-service.ts";
import { usageCountMessage, usageCountOf, usageRangeOf } from "./usage-messages.ts";

/** Who may call what. */
export const accountCallers: Callers<typeof AccountService> = {
  watchApiKeys: ["gateway"],
  getApiKey: ["gateway"],
  getSigningSecrets: ["webhook-dispatcher"],
  signIn: ["dashboard"],
  getSession: ["dashboard"],
  signOut: ["dashboard"],
  listSessions: ["dashboard"],
  endSession: ["dashboard"],
  endOtherSessions: ["dashboard"],
  finishSignIn: ["dashboard"],
  getSecondFactor: ["dashboard"],
  beginTotp: ["dashboard"],
  enableTotp: ["dashboard"],
  disableTotp: ["dashboard"],
  reauthenticate: ["dashboard"],
  changePassword: ["dashboard"],
  listApiKeys: ["dashboard"],
  createApiKey: ["dashboard"],
  rollApiKey: ["dashboard"],
  revokeApiKey: ["dashboard"],
  getWebhookSecret: ["dashboard"],
  setWebhookSecret: ["dashboard"],
  rotateWebhookSecret: ["dashboard"],
  endPreviousWebhookSecret: ["dashboard"],
  appendAuditEntry: ["webhook-dispatcher"],
  reportUsage: ["gateway"],
  getOrganization: ["dashboard"],
  getUsage: ["dashboard"],
};

/** The handlers of AccountService. */
export function createAccountHandlers(options: {
  domain: AccountDomain;
  keyFeed: KeyFeed;
  metrics: AccountMetrics;
  logger: Logger;
}): Handlers<typeof AccountService> {
  const { domain, keyFeed } = options;
  return {
    async *watchApiKeys(_request, { signal }) {
      for await (const step of keyFeed.watch(signal)) yield watchMessage(step);
    },

    async getApiKey({ hashes }) {
      const record = await domain.keyRecords.byHashes(hashes);
      if (!record) throw new ServiceError("not_found", { message: "There is no such API key." });
      return { key: keyRecordMessage(record) };
    },

    async getSigningSecrets({ tenant }) {
      return { secrets: await domain.getSigningSecrets(tenantOf(tenant)) };
    },

    ...createSessionHandlers(options),

    async listApiKeys({ caller }) {
      const { tenant } = callerOf(caller);
      const keys = await domain.listApiKeys(tenant);
      const [lastUses, emails] = await Promise.all([
        domain.lastUses(
          tenant,
          keys.map(({ _id }) => _id),
        ),
        domain.userEmails(tenant.organizationId),
      ]);
      return {
        keys: keys.map((key) =>
          apiKeyMessage(key, { lastUsedAt: lastUses.get(key._id), createdByEmail: emails.get(key.created_by) }),
        ),
      };
    },

    async createApiKey({ caller, name, scopes, expiresAt, submission }) {
      const input = { name, scopes, expiresAt: expiresAt && timestampDate(expiresAt), submission };
      const { key, value } = await domain.createApiKey(callerOf(caller), input);
      return { key: apiKeyMessage(key), value };
    },

    async rollApiKey({ caller, keyId, overlapSeconds, expiresAt, submission }) {
      const input = { keyId, overlapSeconds, expiresAt: expiresAt && timestampDate(expiresAt), submission };
      const { key, value, rolled } = await domain.rollApiKey(callerOf(caller), input);
      return { key: apiKeyMessage(key), value, rolled: apiKeyMessage(rolled) };
    },

    async revokeApiKey({ caller, keyId }) {
      return { key: apiKeyMessage(await domain.revokeApiKey(callerOf(caller), keyId)) };
    },

    async getWebhookSecret({ caller, withoutValue }) {
      if (withoutValue) {
        const described = await domain.describeWebhookSecret(callerOf(caller).tenant);
        return { secret: webhookSecretMessage({ ...described, value: "" }) };
      }
      return { secret: webhookSecretMessage(await domain.getWebhookSecret(callerOf(caller))) };
    },

    async setWebhookSecret({ caller, value, endPreviousNow }) {
      const secret = await domain.setWebhookSecret(callerOf(caller), { value, endPreviousNow });
      return { secret: webhookSecretMessage(secret) };
    },

    async rotateWebhookSecret({ caller, endPreviousNow }) {
      const secret = await domain.rotateWebhookSecret(callerOf(caller), { endPreviousNow });
      return { secret: webhookSecretMessage(secret) };
    },

    async endPreviousWebhookSecret({ caller }) {
      const described = await domain.endPreviousWebhookSecret(callerOf(caller));
      return { secret: webhookSecretMessage({ ...described, value: "" }) };
    },

    async appendAuditEntry({ caller, action, target, details }) {
      await domain.appendAuditEntry(callerOf(caller), { action, target, details });
      return {};
    },

    async getOrganization({ caller }) {
      const { tenant } = callerOf(caller);
      return organizationMessage(await domain.getOrganization(tenant.organizationId), tenant.environment);
    },

    async reportUsage({ reportId, counts }) {
      await domain.reportUsage(reportId, counts.map(usageCountOf));
      return {};
    },

    async getUsage({ caller, from, to, interval, apiKeyId }) {
      const { tenant } = callerOf(caller);
      const counts = await domain.getUsage(tenant, usageRangeOf({ from, to, interval, apiKeyId }));
      return { counts: counts.map((count) => usageCountMessage({ tenant, ...count })) };
    },
  };
}
