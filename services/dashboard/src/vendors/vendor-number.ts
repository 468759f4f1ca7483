import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Request, Response } from "express";
import { field, pathId } from "../http/form.ts";
import { html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { echoOfVendorNumber, readVendorNumber, vendorNumberField } from "../ui/vendor-number.ts";

const refusals: RefusalTexts = {
  invalid: "Nothing was changed. Correct the marked field and try again.",
  fields: { external_id: "vendor number" },
};

/** Creates the handlers that set and remove the organization's own number of an entity. */
export function createVendorNumberHandlers(context: PageContext) {
  const { entities, auditLog, layout } = context;

  /** Changes the number. The change is in the audit log before it is made; without its entry it is not made. */
  async function setNumber({ caller }: Visit, { id: entityId, externalId: before }: Entity, externalId: string) {
    if (externalId === before) return;
    // Refuses the vendor's TIN before it could get into the audit log.
    await entities.getEntity({ caller, entityId, externalId });
    const details = { from: before || "none", to: externalId || "none" };
    await auditLog.appendAuditEntry({ caller, action: "vendor.number_changed", target: entityId, details });
    await entities.setExternalId({ caller, entityId, externalId });
  }

  function sendForm(
    response: Response,
    visit: Visit,
    entity: Entity,
    shown: Partial<Refusal> & { value: string },
  ): void {
    const { value, status, notice, problems = {} } = shown;
    const path = `${visit.view.path}/vendors/${entity.id}`;
    const content = html`<form method="post" action="${path}/vendor-number" class="card">
  ${vendorNumberField({ value, problem: problems.external_id })}
  <p class="hint">Only your organization sees this number. To remove it, save an empty field.</p>
  <p class="choices"><button>Save</button> <a class="button quiet" href="${path}">Go back</a></p>
</form>`;
    const parents = [[`/vendors/${entity.id}`, entity.legalName]] as const;
    layout.sendPage(response, { visit, title: "Your vendor number", parents, status, notice, content });
  }

  return {
    async ask(request, response, visit) {
      const { entity } = await findVendor(context, request, visit);
      sendForm(response, visit, entity, { value: entity.externalId });
    },

    // Repeating the form changes nothing, so it needs no token.
    async change(request, response, visit) {
      const { entity } = await findVendor(context, request, visit);
      const typed = field(request, "external_id");
      const value = echoOfVendorNumber(typed);
      const { externalId, problem } = readVendorNumber(typed);
      if (problem) return sendForm(response, visit, entity, { ...invalid({ external_id: problem }, refusals), value });
      try {
        await setNumber(visit, entity, externalId);
        response.redirect(303, `${visit.view.path}/vendors/${entity.id}?done=numbered`);
      } catch (error) {
        sendForm(response, visit, entity, { ...refusalOf(response, error, refusals), value });
      }
    },
  } satisfies PageHandlers;
}

/** The vendor of a page, and the fingerprint of its TIN; empty where that is not known. */
export interface FoundVendor {
  readonly entity: Entity;
  readonly tinFingerprint: Uint8Array;
}

/** Returns the vendor of a page. Errors: ProblemError for an invalid id, entity_not_found. */
export async function findVendor({ entities }: PageContext, request: Request, { caller }: Visit): Promise<FoundVendor> {
  const { entity, tinFingerprint } = await entities.getEntity({
    caller,
    entityId: pathId(request, "entity_id", "ent"),
  });
  return { entity: entity!, tinFingerprint };
}
