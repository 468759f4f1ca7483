import { isId } from "@vvs/ids";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { actorView } from "../ui/actor.ts";
import { readPosition } from "../ui/list-position.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { unavailablePage } from "../ui/parts.ts";
import { verificationPage } from "./verification-page.ts";
import { verificationsPage } from "./verifications-page.ts";

const PAGE_SIZE = 25;
const INVALID_ENTITY_ID = "Enter an entity ID: ent_ followed by 26 letters and digits.";

export function createVerificationHandlers({ verification, apiKeys, readVendors, layout, logger }: PageContext) {
  /** Returns the API keys, to name the requester; without them the page shows only an id. */
  async function keysOf(visit: Visit): Promise<readonly ApiKey[]> {
    const read = () => apiKeys.listApiKeys({ caller: visit.caller });
    return (await unlessUnavailable(logger, visit, read))?.keys ?? [];
  }

  return {
    async list(request, response, visit) {
      const { entity_id: filter = "", after: place } = request.query;
      const entityId = typeof filter === "string" ? filter.trim() : "";
      const problem = entityId === "" || isId("ent", entityId) ? undefined : INVALID_ENTITY_ID;
      const after = readPosition(place, "ver");
      const asked = { caller: visit.caller, entityId, page: { limit: PAGE_SIZE, after } };
      const found = problem
        ? { verifications: [], next: undefined }
        : await unlessUnavailable(logger, visit, () => verification.listVerifications(asked));
      const content = verificationsPage({
        view: visit.view,
        mayVerify: visit.may("verify"),
        // An invalid id is not shown again: it may be a secret pasted by mistake.
        entityId: problem ? "" : entityId,
        problem,
        found,
        vendors: await readVendors(visit, found?.verifications ?? []),
        isFirst: after === undefined,
      });
      const status = found ? (problem ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "verifications", title: "Verifications", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "verifications", title: "Verification" } as const;
      const id = String(request.params.verification_id);
      if (!isId("ver", id)) throw new ProblemError("page_not_found");
      const asked = { caller: visit.caller, verificationId: id };
      const found = await unlessUnavailable(logger, visit, () => verification.getVerification(asked));
      if (!found) return layout.sendPage(response, { ...page, status: 503, content: unavailablePage(page.title) });
      const { entityId, actor } = found.verification!;
      const [vendors, keys] = await Promise.all([readVendors(visit, [{ entityId }]), keysOf(visit)]);
      const content = verificationPage({
        view: visit.view,
        verification: found.verification!,
        vendors,
        actor: actorView(actor, { session: visit.session, keys }),
      });
      layout.sendPage(response, { ...page, content });
    },
  } satisfies PageHandlers;
}
