import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { pathWithQuery } from "../http/form.ts";
import { html } from "../http/html.ts";
import { permissionHint } from "../http/roles.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { namesNote, vendorName } from "../page/panels.ts";
import { idField } from "../ui/filter.ts";
import { checkTitle, outcomeState, timeAgo } from "../ui/parts.ts";
import { aside } from "../ui/table.ts";
import { verdictOf } from "../verdicts/verdict.ts";

/** Creates the list of verifications, newest first. */
export const createVerificationList = (context: PageContext) =>
  listPage(context, {
    path: "/verifications",
    noun: "verifications",
    fields: { entity_id: idField("ent") },
    positions: byTime("ver"),
    limit: 25,
    async read(visit, { entity_id: entityId }, page) {
      const { verifications, next } = await context.verification.listVerifications({
        ...{ caller: visit.caller, entityId, page },
      });
      return { rows: verifications, next, vendors: await context.readVendors(visit, verifications) };
    },
    columns: ({ visit: { view, now }, found: { vendors } }) => [
      [
        "Vendor",
        ({ id, entityId }) => html`<a href="${view.path}/verifications/${id}">${vendorName(vendors, entityId)}</a>`,
        "long",
      ],
      ["Result", ({ overallResult }) => outcomeState(overallResult)],
      ["Checks", (verification) => aside(...answersOf(verification)), "long"],
      ["Time", ({ createdAt }) => timeAgo(createdAt, now)],
    ],
    actions: ({ view, may }) =>
      may("verify") && html`<p><a class="button" href="${view.path}/verifications/new">Run a verification</a></p>`,
    heading: ({ view }, { isNarrowed }) =>
      isNarrowed ? "Verifications of this vendor" : `All ${view.name.toLowerCase()} verifications`,
    above: (found) => namesNote(found),
    noMatch: "This vendor has not been verified yet.",
    empty: ({ view, may }) =>
      may("verify")
        ? html`<p class="empty">No verifications yet. Run one here, or call <code>POST /v1/verify</code>.</p>`
        : html`<p class="empty">No verifications yet.</p>${permissionHint(view, "verify", "run verifications")}`,
    curl: (filter) => ["listVerifications", "List verifications", { path: pathWithQuery("/v1/verifications", filter) }],
  });

/** Returns what each check of a verification says. */
export function answersOf({ results, createdAt }: Pick<Verification, "results" | "createdAt">): string[] {
  const at = timestampDate(createdAt!);
  return results.map((result) => {
    const { text } = verdictOf(checkOf(result.checkType), { result, at }, at);
    return `${checkTitle(result.checkType)}: ${text}`;
  });
}
