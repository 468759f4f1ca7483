import { createHash } from "node:crypto";
import { isId } from "@vvs/ids";
import type { Evidence } from "@vvs/proto/verification/v1/verification";
import type { Request } from "express";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { unavailablePage } from "../ui/parts.ts";
import { evidencePage } from "./evidence-page.ts";

export function createEvidenceHandlers({ verification, layout, logger }: PageContext) {
  async function read(request: Request, visit: Visit): Promise<Evidence> {
    const evidenceId = String(request.params.evidence_id);
    if (!isId("evd", evidenceId)) throw new ProblemError("page_not_found");
    return (await verification.getEvidence({ caller: visit.caller, evidenceId })).evidence!;
  }

  return {
    async view(request, response, visit) {
      const page = { visit, section: "verifications", title: "Evidence" } as const;
      const evidence = await unlessUnavailable(logger, visit, () => read(request, visit));
      if (!evidence) return layout.sendPage(response, { ...page, status: 503, content: unavailablePage(page.title) });
      const isIntact = sha256(evidence.content) === evidence.sha256;
      layout.sendPage(response, { ...page, content: evidencePage({ view: visit.view, evidence, isIntact }) });
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

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
