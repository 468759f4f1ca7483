import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, tenantOf } from "@vvs/tenant";
import type { AccountDomain } from "../domain.ts";
import { webhookSecretMessage } from "../messages.ts";

const callers: Callers<typeof WebhookSecretService> = {
  getSigningSecrets: ["webhook-dispatcher"],
  getWebhookSecret: ["dashboard"],
  setWebhookSecret: ["dashboard"],
  rotateWebhookSecret: ["dashboard"],
  endPreviousWebhookSecret: ["dashboard"],
};

/** WebhookSecretService. */
export function createWebhookSecretPart({ domain }: { domain: AccountDomain }): ServicePart {
  return servicePart({
    service: WebhookSecretService,
    callers,
    handlers: {
      async getSigningSecrets({ tenant }) {
        return { secrets: await domain.webhookSecrets.getSigning(tenantOf(tenant)) };
      },

      async getWebhookSecret({ caller, withoutValue }) {
        if (withoutValue) {
          const described = await domain.webhookSecrets.describe(callerOf(caller).tenant);
          return { secret: webhookSecretMessage({ ...described, value: "" }) };
        }
        return { secret: webhookSecretMessage(await domain.webhookSecrets.get(callerOf(caller))) };
      },

      async setWebhookSecret({ caller, value, endPreviousNow, submission }) {
        const secret = await domain.webhookSecrets.set(callerOf(caller), { value, endPreviousNow, submission });
        return { secret: webhookSecretMessage(secret) };
      },

      async rotateWebhookSecret({ caller, endPreviousNow, submission }) {
        const secret = await domain.webhookSecrets.rotate(callerOf(caller), { endPreviousNow, submission });
        return { secret: webhookSecretMessage(secret) };
      },

      async endPreviousWebhookSecret({ caller }) {
        const described = await domain.webhookSecrets.endPrevious(callerOf(caller));
        return { secret: webhookSecretMessage({ ...described, value: "" }) };
      },
    },
  });
}
