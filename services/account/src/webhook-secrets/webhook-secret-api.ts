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

export function createWebhookSecretPart({ domain }: { domain: AccountDomain }): ServicePart {
  const { webhookSecrets } = domain;
  return servicePart({
    service: WebhookSecretService,
    callers,
    handlers: {
      async getSigningSecrets({ tenant }) {
        return { secrets: await webhookSecrets.getSigning(tenantOf(tenant)) };
      },

      async getWebhookSecret({ caller, withoutValue }) {
        if (withoutValue) {
          const described = await webhookSecrets.describe(callerOf(caller).tenant);
          return { secret: webhookSecretMessage({ ...described, value: "" }) };
        }
        return { secret: webhookSecretMessage(await webhookSecrets.get(callerOf(caller))) };
      },

      async setWebhookSecret({ caller, value, endPreviousNow, submission }) {
        const secret = await webhookSecrets.set(callerOf(caller), { value, endPreviousNow, submission });
        return { secret: webhookSecretMessage(secret) };
      },

      async rotateWebhookSecret({ caller, endPreviousNow, submission }) {
        const secret = await webhookSecrets.rotate(callerOf(caller), { endPreviousNow, submission });
        return { secret: webhookSecretMessage(secret) };
      },

      async endPreviousWebhookSecret({ caller }) {
        const described = await webhookSecrets.endPrevious(callerOf(caller));
        return { secret: webhookSecretMessage({ ...described, value: "" }) };
      },
    },
  });
}
