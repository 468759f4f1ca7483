import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import { NotProvenError } from "../sso/openid.ts";
import { type RecordedPeople, recordedSignIn } from "./recorded.ts";

export function createSingleSignOnPart(options: RecordedPeople): ServicePart {
  const { singleSignOn } = options.domain;
  return servicePart({
    service: SingleSignOnService,
    callers: onlyFor(SingleSignOnService, "dashboard"),
    handlers: {
      async findIdentityProvider({ email }) {
        const { providers, isUsed } = singleSignOn.findProviders(email);
        return { providers: providers.map(({ id, name }) => ({ id, name })), isUsed };
      },

      async beginSingleSignOn(request) {
        try {
          const begun = await singleSignOn.begin(request);
          return { ...begun, expiresAt: timestampFromDate(begun.expiresAt) };
        } catch (error) {
          const ids = { identity_provider: request.providerId };
          options.logger.warn({ err: error, ...ids }, "single sign-on could not start");
          throw error;
        }
      },

      async finishSingleSignOn(request) {
        const finish = () => singleSignOn.finish(request);
        const begun = await recordedSignIn(options, "single_sign_on", request, finish, explain);
        const { token: sessionToken, session, next, deviceToken } = begun;
        const { userId, organizationId } = session;
        const expiresAt = timestampFromDate(session.expiresAt);
        return { sessionToken, userId, organizationId, expiresAt, next, deviceToken };
      },
    },
  });
}

function explain(error: unknown) {
  const reason = error instanceof ServiceError && error.cause instanceof NotProvenError && error.cause.reason;
  return { outcome: ServiceError.from(error).code, ...(reason && { reason }), err: error };
}
