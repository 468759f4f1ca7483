import { isId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { AccountService, ApiKey } from "@vvs/proto/account/v1/account";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { actorView } from "./actor.ts";
import { unlessAway } from "./away.ts";
import { ProblemError } from "./http/problem.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { readPlace } from "./list-place.ts";
import type { Layout } from "./pages/layout.ts";
import { awayPage } from "./pages/parts.ts";
import { verificationPage } from "./pages/verification.ts";
import { verificationsPage } from "./pages/verifications.ts";
import type { ReadVendors } from "./vendors.ts";

export interface VerificationHandlers {
  readonly list: PageHandler;
  readonly view: PageHandler;
}

const SHOWN = 25;
const NO_ENTITY_ID = "The id of an entity is ent_ and 26 letters and digits.";

export function createVerificationHandlers(options: {
  verification: Pick<Client<typeof VerificationService>, "listVerifications" | "getVerification">;
  account: Pick<Client<typeof AccountService>, "listApiKeys">;
  readVendors: ReadVendors;
  layout: Layout;
  logger: Logger;
}): VerificationHandlers {
  const { verification, account, readVendors, layout, logger } = options;

  /** The keys' names say who asked; without them there is still the id. */
  async function keysOf(visit: Visit): Promise<readonly ApiKey[]> {
    const read = () => account.listApiKeys({ caller: toProtoCaller(visit.caller) });
    return (await unlessAway(logger, visit, read))?.keys ?? [];
  }

  return {
    async list(request, response, visit) {
      const { entity_id: filter = "", after: place } = request.query;
      const entityId = typeof filter === "string" ? filter.trim() : "";
      const problem = entityId === "" || isId("ent", entityId) ? undefined : NO_ENTITY_ID;
      const after = readPlace(place, "ver");
      const asked = { caller: toProtoCaller(visit.caller), entityId, page: { limit: SHOWN, after } };
      const found = problem
        ? { verifications: [], next: undefined }
        : await unlessAway(logger, visit, () => verification.listVerifications(asked));
      const ids = found?.verifications.map((each) => each.entityId) ?? [];
      const content = verificationsPage({
        view: visit.view,
        mayVerify: visit.may("verify"),
        // What is no id may be anything that was pasted by mistake.
        entityId: problem ? "" : entityId,
        problem,
        found,
        vendors: await readVendors(visit, ids),
        isFirst: after === undefined,
      });
      const status = found ? (problem ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "verifications", title: "Verifications", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "verifications", title: "Verification" } as const;
      const id = String(request.params.verification_id);
      if (!isId("ver", id)) throw new ProblemError("no_page");
      const asked = { caller: toProtoCaller(visit.caller), verificationId: id };
      const found = await unlessAway(logger, visit, () => verification.getVerification(asked));
      if (!found) return layout.sendPage(response, { ...page, status: 503, content: awayPage(page.title) });
      const { entityId, actor } = found.verification!;
      const [vendors, keys] = await Promise.all([readVendors(visit, [entityId]), keysOf(visit)]);
      const content = verificationPage({
        view: visit.view,
        verification: found.verification!,
        vendors,
        actor: actorView(actor, { session: visit.session, keys }),
      });
      layout.sendPage(response, { ...page, content });
    },
  };
}
