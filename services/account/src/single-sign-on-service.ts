import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import type { AccountMetrics } from "./metrics.ts";
import { NotProvenError } from "./openid.ts";
import type { SingleSignOn } from "./single-sign-on.ts";

/** Who may call what. */
const callers: Callers<typeof SingleSignOnService> = {
  findIdentityProvider: ["dashboard"],
  beginSingleSignOn: ["dashboard"],
  finishSingleSignOn: ["dashboard"],
};

/** SingleSignOnService. */
export function createSingleSignOnPart(options: {
  domain: SingleSignOn;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  return servicePart({ service: SingleSignOnService, handlers: createHandlers(options), callers });
}

function createHandlers(options: Parameters<typeof createSingleSignOnPart>[0]): Handlers<typeof SingleSignOnService> {
  const { domain: singleSignOn, metrics, logger } = options;
  const tell = (outcome: string, ids: object) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step: "single_sign_on", ...ids }, "sign-in");
  };

  return {
    async findIdentityProvider({ email }) {
      const { providers, isUsed } = singleSignOn.findProviders(email);
      return { providers: providers.map(({ id, name }) => ({ id, name })), isUsed };
    },

    async beginSingleSignOn({ providerId, redirectUri, next, again }) {
      try {
        const begun = await singleSignOn.beginSingleSignOn({ providerId, redirectUri, next, again });
        return { ...begun, expiresAt: timestampFromDate(begun.expiresAt) };
      } catch (error) {
        logger.warn({ err: error, identity_provider: providerId }, "a single sign-on can't begin");
        throw error;
      }
    },

    async finishSingleSignOn({ browserToken, providerId, query, clientAddress, userAgent }) {
      const ids = { client_address: clientAddress, identity_provider: providerId };
      try {
        const { token, session, next } = await singleSignOn.finishSingleSignOn({
          browserToken,
          providerId,
          query,
          clientAddress,
          userAgent,
        });
        const { userId, organizationId, expiresAt } = session;
        tell("ok", { ...ids, user_id: userId, organization_id: organizationId });
        return { sessionToken: token, userId, organizationId, expiresAt: timestampFromDate(expiresAt), next };
      } catch (error) {
        const reason = error instanceof ServiceError && error.cause instanceof NotProvenError && error.cause.reason;
        tell(ServiceError.from(error).code, { ...ids, ...(reason && { reason }), err: error });
        throw error;
      }
    },
  };
}
