import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, tenantOf } from "@vvs/tenant";
import type { KeysDomain } from "../domain.ts";
import { webhookSecretMessage } from "./messages.ts";

const allowed: Callers<typeof WebhookSecretService> = {
  getSigningSecrets: ["webhook-dispatcher"],
  getWebhookSecret: ["dashboard"],
  setWebhookSecret: ["dashboard"],
  rotateWebhookSecret: ["dashboard"],
  endPreviousWebhookSecret: ["dashboard"],
};

export function createWebhookSecretPart({ domain }: { domain: KeysDomain }): ServicePart {
  const { webhookSecrets, organizations, callersBySession: callers } = domain;
  return servicePart({
    service: WebhookSecretService,
    callers: allowed,
    handlers: {
      async getSigningSecrets({ tenant }) {
        const { organizationId, environment } = tenantOf(tenant);
        const [secrets, { private_hosts: privateHosts = [] }] = await Promise.all([
          webhookSecrets.getSigning({ organizationId, environment }),
          organizations.get(organizationId),
        ]);
        return { secrets, privateHosts: [...privateHosts] };
      },

      async getWebhookSecret(request) {
        if (request.withoutValue) {
          const described = await webhookSecrets.describe(callerOf(request.caller).tenant);
          return { secret: webhookSecretMessage({ ...described, value: "" }) };
        }
        return { secret: webhookSecretMessage(await webhookSecrets.get(await callers.confirmed(request))) };
      },

      async setWebhookSecret(request) {
        return { secret: webhookSecretMessage(await webhookSecrets.set(await callers.confirmed(request), request)) };
      },

      async rotateWebhookSecret(request) {
        return { secret: webhookSecretMessage(await webhookSecrets.rotate(await callers.confirmed(request), request)) };
      },

      async endPreviousWebhookSecret(request) {
        const described = await webhookSecrets.endPrevious(await callers.confirmed(request));
        return { secret: webhookSecretMessage({ ...described, value: "" }) };
      },
    },
  });
}
