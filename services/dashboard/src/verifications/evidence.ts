import type { Evidence } from "@vvs/proto/verification/v1/verification";
import type { Request } from "express";
import { pathId } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { evidencePage } from "./evidence-page.ts";
import { isIntact } from "./read-evidence.ts";
import { verificationUnavailable } from "./verifications-page.ts";

export function createEvidenceHandlers({ verification, layout, logger, apiBaseUrl }: PageContext) {
  async function read(request: Request, { caller }: Visit): Promise<Evidence> {
    return (await verification.getEvidence({ caller, evidenceId: pathId(request, "evidence_id", "evd") })).evidence!;
  }

  return {
    async view(request, response, visit) {
      const page = { visit, section: "verifications", title: "Evidence" } as const;
      const evidence = await unlessUnavailable(logger, visit, () => read(request, visit));
      if (!evidence) return layout.sendPage(response, unavailablePage(page, verificationUnavailable));
      const content = evidencePage({ view: visit.view, evidence, isIntact: isIntact(evidence), apiBaseUrl });
      layout.sendPage(response, { ...page, content });
    },

    /** Sends exactly the bytes that were hashed, as a text attachment, so that no browser runs a provider's content. */
    async download(request, response, visit) {
      const { id, content } = await read(request, visit);
      response.set({
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="${id}.txt"`,
      });
      response.send(Buffer.from(content, "utf8"));
    },
  } satisfies PageHandlers;
}
