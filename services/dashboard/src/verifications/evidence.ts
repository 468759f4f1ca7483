import { createHash } from "node:crypto";
import { isId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { Evidence, VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request } from "express";
import { ProblemError } from "../http/problem.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import { unavailablePage } from "../ui/parts.ts";
import { evidencePage } from "./evidence-page.ts";

export interface EvidenceHandlers {
  readonly view: PageHandler;
  readonly download: PageHandler;
}

export function createEvidenceHandlers(options: {
  verification: Pick<Client<typeof VerificationService>, "getEvidence">;
  layout: Layout;
  logger: Logger;
}): EvidenceHandlers {
  const { verification, layout, logger } = options;

  async function read(request: Request, visit: Visit): Promise<Evidence> {
    const evidenceId = String(request.params.evidence_id);
    if (!isId("evd", evidenceId)) throw new ProblemError("page_not_found");
    return (await verification.getEvidence({ caller: toProtoCaller(visit.caller), evidenceId })).evidence!;
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
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
