import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import type { PeopleDomain } from "../domain.ts";
import type { AccountMetrics } from "../metrics.ts";
import { recordedSignIn } from "../sessions/recorded.ts";
import { NotProvenError } from "../sso/openid.ts";

export function createSingleSignOnPart(options: {
  domain: PeopleDomain;
  metrics: AccountMetrics;
  logger: Logger;
}): ServicePart {
  const { singleSignOn } = options.domain;
  return servicePart({
    service: SingleSignOnService,
    callers: onlyFor(SingleSignOnService, "dashboard"),
    handlers: {
      async findIdentityProvider({ email }) {
        const { providers, isUsed } = singleSignOn.findProviders(email);
        return { providers: providers.map(({ id, name }) => ({ id, name })), isUsed };
      },

      async beginSingleSignOn({ providerId, redirectUri, next, again }) {
        try {
          const begun = await singleSignOn.begin({ providerId, redirectUri, next, again });
          return { ...begun, expiresAt: timestampFromDate(begun.expiresAt) };
        } catch (error) {
          options.logger.warn({ err: error, identity_provider: providerId }, "single sign-on could not start");
          throw error;
        }
      },

      async finishSingleSignOn({ browserToken, providerId, query, clientAddress, userAgent }) {
        const ids = { client_address: clientAddress, identity_provider: providerId };
        const input = { browserToken, providerId, query, clientAddress, userAgent };
        const finish = () => singleSignOn.finish(input);
        const begun = await recordedSignIn(options, "single_sign_on", ids, finish, explain);
        const { token, session, next, deviceToken } = begun;
        const { userId, organizationId, expiresAt } = session;
        return {
          sessionToken: token,
          userId,
          organizationId,
          expiresAt: timestampFromDate(expiresAt),
          next,
          deviceToken,
        };
      },
    },
  });
}

function explain(error: unknown) {
  const reason = error instanceof ServiceError && error.cause instanceof NotProvenError && error.cause.reason;
  return { outcome: ServiceError.from(error).code, ...(reason && { reason }), err: error };
}
