import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import type { Request } from "express";
import { pathId, RECEIPTS_PATH } from "../http/form.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { readKeys } from "../page/panels.ts";
import { actorView } from "../ui/actor.ts";
import { certifiedDecision } from "../verdicts/certified-decision.ts";
import { readScheduledRuns } from "../verdicts/read-confirmed.ts";
import { askedAbout, askedWarning, readVendorThen } from "./asked-about.ts";
import { type CertificateView, certificatePage } from "./certificate.ts";
import { checkEvidence } from "./evidence.ts";

/** Creates the handlers of the printable certificate of a verification, and of its receipt. */
export function createCertificateHandlers(context: PageContext) {
  const { verification, layout, url, apiBaseUrl, readPanel } = context;
  const issuer = apiBaseUrl.href.replace(/\/+$/, "");

  async function read(request: Request, visit: Visit): Promise<CertificateView> {
    const { caller } = visit;
    const verificationId = pathId(request, "verification_id", "ver");
    const found = (await verification.getVerification({ caller, verificationId })).verification!;
    const asked = askedAbout(found);
    const [vendor, keys, confirmation, receipt, results] = await Promise.all([
      readVendorThen(context, visit, found),
      readKeys(context, visit),
      readConfirmation(visit, found),
      readReceipt(visit, verificationId),
      Promise.all(
        found.results.map(async (result) => ({
          result,
          checked: result.evidenceId === "" ? undefined : await checkEvidence(context, visit, result.evidenceId),
        })),
      ),
    ]);
    const actor = actorView(found.actor, { session: visit.session, keys });
    const warning = askedWarning(asked, vendor?.legalName ?? "");
    const decision = certifiedDecision(found);
    return {
      ...{ visit, verification: found, vendor, asked, decision, warning, results, actor, confirmation, receipt },
      url: new URL(`${visit.view.path}/verifications/${found.id}/certificate`, url).href,
      receiptsUrl: new URL(RECEIPTS_PATH, url).href,
    };
  }

  /** Reads the receipt; undefined where the operator has configured no keys, and while it is unavailable. */
  async function readReceipt(visit: Visit, verificationId: string): Promise<string | undefined> {
    const { caller } = visit;
    return readPanel(visit, "receipt of a verification", (options) =>
      verification.getReceipt({ caller, verificationId, issuer }, options).then(
        ({ receipt }) => receipt,
        (error: unknown) => (isRefusal(error, "not_found") ? undefined : Promise.reject(error)),
      ),
    );
  }

  /** Reads the scheduled checks that confirmed a monitor's verification; undefined where there were none, and while unavailable. */
  async function readConfirmation(visit: Visit, { id, entityId, actor, createdAt }: Verification) {
    if (!actor.startsWith("mon_")) return undefined;
    const before = new Date(timestampMs(createdAt!) + 1);
    const found = await readPanel(visit, "scheduled checks after a verification", (options) =>
      readScheduledRuns(context, visit, { entityIds: [entityId], before }, options),
    );
    return found?.get(entityId)?.find(({ verificationId }) => verificationId === id)?.confirmed;
  }

  return {
    async view(request, response, visit) {
      const certificate = await read(request, visit);
      const parents = [[`/verifications/${certificate.verification.id}`, "Verification"]] as const;
      const content = certificatePage(certificate);
      layout.sendPage(response, { visit, title: "Certificate", heading: false, parents, content });
    },

    async receipt(request, response, visit) {
      const verificationId = pathId(request, "verification_id", "ver");
      const { receipt } = await verification.getReceipt({ caller: visit.caller, verificationId, issuer });
      response.set({
        "content-type": "application/jwt",
        "content-disposition": `attachment; filename="${verificationId}.jwt"`,
      });
      response.send(Buffer.from(receipt, "utf8"));
    },
  } satisfies PageHandlers;
}
