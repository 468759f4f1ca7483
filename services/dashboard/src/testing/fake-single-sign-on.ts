import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import { fakePart } from "./fake-part.ts";
import { beginSession } from "./fake-sessions.ts";
import type { FakeState } from "./fake-state.ts";

const ACME = { id: "acme", name: "Acme" };

/** Simulates single sign-on with one provider, for acme.example, which signs everyone in. */
export function singleSignOnPart(state: FakeState) {
  /** The trips to the provider, by their state. */
  const trips = new Map<string, string>();
  return fakePart(SingleSignOnService, state, {
    quiet: {
      async findIdentityProvider({ email }) {
        const fits = email === "" || email.endsWith("@acme.example");
        return { providers: fits ? [ACME] : [], isUsed: true };
      },
      async beginSingleSignOn({ providerId, redirectUri, next, again }) {
        if (providerId !== ACME.id) throw new ServiceError("not_found", { message: "There is none." });
        state.calls.push(`beginSingleSignOn ${redirectUri} ${next} ${again}`);
        const expiresAt = timestampFromDate(new Date(Date.now() + 600_000));
        const browserToken = `trip-${randomUUID()}`;
        trips.set(`state${trips.size + 1}`, browserToken);
        const authorizationUrl = `https://login.acme.example/go?state=state${trips.size}`;
        return { authorizationUrl, browserToken, expiresAt };
      },
      async finishSingleSignOn({ browserToken, providerId, query }) {
        if (browserToken !== trips.get(new URLSearchParams(query).get("state") ?? ""))
          throw new ServiceError("unauthorized", { message: "This sign-in is over." });
        state.calls.push(`finishSingleSignOn ${providerId} ${query}`);
        const { sessionToken, session } = beginSession(state);
        return { ...session, sessionToken, next: "/live/webhooks" };
      },
    },
  });
}
