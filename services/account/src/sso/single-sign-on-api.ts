import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { type Callers, type Handlers, type ServicePart, servicePart } from "@vvs/rpc";
import type { AccountDomain } from "../domain.ts";
import type { AccountMetrics } from "../metrics.ts";
import { NotProvenError } from "./openid.ts";

/** Who may call what. */
const callers: Callers<typeof SingleSignOnService> = {
  findIdentityProvider: ["dashboard"],
  beginSingleSignOn: ["dashboard"],
  finishSingleSignOn: ["dashboard"],
};

/** SingleSignOnService. */
export function createSingleSignOnPart(options: {
  domain: AccountDomain;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  return servicePart({ service: SingleSignOnService, handlers: createHandlers(options), callers });
}

function createHandlers(options: Parameters<typeof createSingleSignOnPart>[0]): Handlers<typeof SingleSignOnService> {
  const { domain, metrics, logger } = options;
  const record = (outcome: string, ids: object) => {
    metrics.signIn(outcome);
    logger.info({ outcome, step: "single_sign_on", ...ids }, "sign-in");
  };

  return {
    async findIdentityProvider({ email }) {
      const { providers, isUsed } = domain.singleSignOn.findProviders(email);
      return { providers: providers.map(({ id, name }) => ({ id, name })), isUsed };
    },

    async beginSingleSignOn({ providerId, redirectUri, next, again }) {
      try {
        const begun = await domain.singleSignOn.begin({ providerId, redirectUri, next, again });
        return { ...begun, expiresAt: timestampFromDate(begun.expiresAt) };
      } catch (error) {
        logger.warn({ err: error, identity_provider: providerId }, "single sign-on could not start");
        throw error;
      }
    },

    async finishSingleSignOn({ browserToken, providerId, query, clientAddress, userAgent }) {
      const ids = { client_address: clientAddress, identity_provider: providerId };
      try {
        const { token, session, next } = await domain.singleSignOn.finish({
          browserToken,
          providerId,
          query,
          clientAddress,
          userAgent,
        });
        const { userId, organizationId, expiresAt } = session;
        record("ok", { ...ids, user_id: userId, organization_id: organizationId });
        return { sessionToken: token, userId, organizationId, expiresAt: timestampFromDate(expiresAt), next };
      } catch (error) {
        const reason = error instanceof ServiceError && error.cause instanceof NotProvenError && error.cause.reason;
        record(ServiceError.from(error).code, { ...ids, ...(reason && { reason }), err: error });
        throw error;
      }
    },
  };
}
