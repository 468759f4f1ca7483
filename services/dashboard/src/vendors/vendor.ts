import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import { Mode, type Verification } from "@vvs/proto/verification/v1/verification";
import type { Request, Response } from "express";
import { fieldValues, pathWithQuery, typedFields } from "../http/form.ts";
import { formIdempotency } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { echoOfUrl, readSchedule } from "../monitors/monitor-form.ts";
import { liveTinMatchHint } from "../page/live-tin-match.ts";
import type { PageContext } from "../page/page-context.ts";
import { readKeys, unlessUnavailable } from "../page/panels.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { noticeOf } from "../ui/parts.ts";
import { withConfirmation } from "../verdicts/payment.ts";
import { noRuns, readScheduledRuns } from "../verdicts/read-confirmed.ts";
import { readSameNames } from "../verdicts/same-names.ts";
import { isInRegistry } from "../verdicts/vendor-status.ts";
import { type MeantVendors, meantVendors, TIMEOUT_MS } from "../verifications/run-verification.ts";
import { identifierLabels, withoutTin, withTypedTin } from "../verifications/verification-form.ts";
import { madeChecks, readVerifications } from "./made-checks.ts";
import { createReadTimeline, readTimelinePosition } from "./timeline.ts";
import { readKind } from "./timeline-page.ts";
import {
  type EchoedVendorInput,
  knownInputs,
  missingFields,
  readVendorForm,
  suggestedChecks,
  type VendorInput,
  type VendorRequest,
} from "./vendor-form.ts";
import { type FoundVendor, findVendor } from "./vendor-number.ts";
import { vendorPage } from "./vendor-page.ts";

const MONITORS_READ = 10;

const notices = {
  numbered: "Your vendor number was saved.",
  verified: "The vendor was verified. The result is shown here.",
  monitored: "The monitor was created. Its first run begins now. Later runs are compared with it.",
};

const refusals: RefusalTexts = {
  sentBefore: "This form was already sent, so nothing was done again. What it did is in the history below.",
  unavailable:
    "This may not have finished, because a service is temporarily unavailable. Look at the history below before you try again.",
  invalid: "Nothing was done. Correct the marked fields and try again. If you entered a TIN, enter it again.",
  fields: { ...identifierLabels, legal_name: "legal name", checks: "choice of checks", webhook_url: "webhook URL" },
};

/** A form that was refused, to be shown again. */
interface RefusedForm extends Refusal {
  readonly meant: MeantVendors;
  readonly input: EchoedVendorInput;
}

/** Creates the handlers of the page of one vendor, and of its form that verifies or monitors the vendor. */
export function createVendorHandlers(context: PageContext) {
  const { verification, monitors, organization, layout, logger, apiBaseUrl, readPanel } = context;
  const readTimeline = createReadTimeline(context);

  /** Returns what TIN matches of the vendor must be about. */
  async function readSubject(visit: Visit, entity: Entity, verified: readonly Verification[]) {
    const { legalName: name, identifiers } = entity;
    const hasGivenName = !isInRegistry(entity);
    const names = verified.flatMap(({ results }) =>
      results.flatMap(({ details }) => [details?.name || [], hasGivenName ? details?.legalName || [] : []].flat()),
    );
    const pairs = names.map((asked) => ({ asked, own: name }));
    const isSame = await readSameNames(context, visit, pairs);
    return { tin: identifiers.tin ?? "", name, isNamed: (other: string) => isSame(other, name), hasGivenName };
  }

  async function send(request: Request, response: Response, visit: Visit, found: FoundVendor, refused?: RefusedForm) {
    const { caller, view, may } = visit;
    const { entity, tinFingerprint } = found;
    const entityId = entity.id;
    const path = `${view.path}/vendors/${entityId}`;
    const [after, only] = [readTimelinePosition(request.query.after), readKind(request.query.show)];
    const list = (canceled: boolean) =>
      unlessUnavailable(logger, visit, () =>
        monitors.listMonitors({ caller, entityId, canceled, page: { limit: MONITORS_READ } }),
      );
    const [verified, active, canceled, newest, keys, tinHint, scheduled] = await Promise.all([
      readVerifications(context, visit, entityId),
      list(false),
      list(true),
      may("manage_monitors")
        ? unlessUnavailable(logger, visit, () => monitors.listMonitors({ caller, page: { limit: 1 } }))
        : undefined,
      readKeys(context, visit),
      liveTinMatchHint(context, visit),
      readPanel(visit, "scheduled checks of a vendor", (options) =>
        readScheduledRuns(context, visit, { entityIds: [entityId] }, options),
      ),
    ]);
    const runs = scheduled?.get(entityId) ?? noRuns;
    const watching = active && canceled && distinct([...active.monitors, ...canceled.monitors]);
    const timeline = await readTimeline(visit, { entityId, monitors: watching, only, after });
    const subject = await readSubject(visit, entity, verified ?? []);
    const made =
      verified &&
      madeChecks(verified, { tin: subject.tin, tinFingerprint }).map((each) => withConfirmation(each, runs));
    const staleSince = runs.find((run) => run.staleSince)?.staleSince;
    const known = knownInputs(entity);
    const input = refused?.input ?? {
      ...{ uei: "", cage: "", legal_name: "", frequency: "daily" },
      checks: suggestedChecks(known, made ?? [], tinHint === undefined),
      // Most organizations have one endpoint.
      webhook_url: newest?.monitors[0]?.webhookUrl ?? "",
    };
    const form = {
      ...refused,
      visit,
      path,
      entityId,
      apiBaseUrl,
      input,
      missing: missingFields(known),
      searchPath: searchPathOf(visit, entity),
      tinHint,
      monitors: active?.monitors,
    };
    layout.sendPage(response, {
      ...{ visit, title: entity.legalName, parents: [["/vendors", "Vendors"]], status: refused?.status },
      // What is said of a refused form stands above it.
      notice: refused ? undefined : noticeOf(request, notices),
      content: vendorPage({ visit, entity, made, subject, staleSince, form, timeline, keys }),
    });
  }

  /** Makes the checks, after adding to the vendor what the form supplied. */
  async function verify(request: Request, visit: Visit, entity: Entity, read: VendorRequest) {
    const { caller } = visit;
    const { checks, identifiers, legalName } = read;
    const target = addsNothing(read)
      ? { case: "entityId" as const, value: entity.id }
      : { case: "vendor" as const, value: { identifiers, legalName, entityId: entity.id } };
    const idempotency = formIdempotency(visit, `vendors/${entity.id}/verify`, request);
    await verification.verify({ caller, target, checks, mode: Mode.REALTIME, idempotency }, { timeoutMs: TIMEOUT_MS });
  }

  /** Acts on the form of the page, once, and shows what came of it; a refused form is shown again. */
  async function submit(
    request: Request,
    response: Response,
    visit: Visit,
    done: "verified" | "monitored",
    act: (entity: Entity, read: VendorRequest, schedule: Schedule) => Promise<void>,
  ): Promise<void> {
    const found = await findVendor(context, request, visit);
    const { entity } = found;
    const typed = vendorInput(request);
    const refuse = (refusal: Refusal, error?: unknown) =>
      send(request, response, visit, found, { ...refusal, meant: meantVendors(error), input: echoOf(typed) });
    const read = readVendorForm(typed, knownInputs(entity), visit.view.environment);
    const schedule = done === "monitored" ? readSchedule({ ...typed, external_id: entity.externalId }) : undefined;
    const problems = { ...schedule?.problems, ...read.problems };
    if (read.problems || schedule?.problems) return refuse(invalid(problems, refusals));
    try {
      await visit.forms.once(() => act(entity, read.request, schedule?.request));
      response.redirect(303, `${visit.view.path}/vendors/${entity.id}?done=${done}`);
    } catch (error) {
      await refuse(refusalOf(response, error, refusals), error);
    }
  }

  return {
    async view(request, response, visit) {
      await send(request, response, visit, await findVendor(context, request, visit));
    },

    verify: (request, response, visit) =>
      submit(request, response, visit, "verified", (entity, read) => verify(request, visit, entity, read)),

    monitor: (request, response, visit) =>
      submit(request, response, visit, "monitored", async (entity, read, schedule) => {
        // A monitor has no identifiers of its own, so what the form supplied is first added to the vendor.
        if (!addsNothing(read)) await verify(request, visit, entity, read);
        const { caller } = visit;
        const { activeMonitors: activeLimit } = await organization.getOrganization({ caller });
        const idempotency = formIdempotency(visit, `vendors/${entity.id}/monitor`, request);
        const asked = { entityId: entity.id, checks: read.checks, ...schedule };
        await monitors.createMonitor({ ...asked, caller, activeLimit, idempotency });
      }),
  } satisfies PageHandlers;
}

type Schedule = ReturnType<typeof readSchedule>["request"];

/** A monitor that is canceled between the two lists is in both. */
const distinct = (listed: readonly Monitor[]) => [...new Map(listed.map((each) => [each.id, each])).values()];

const addsNothing = ({ identifiers, legalName }: VendorRequest) =>
  legalName === "" && Object.keys(identifiers).length === 0;

function vendorInput(request: Request): VendorInput {
  const typed = typedFields(request, ["uei", "cage", "tin", "legal_name", "frequency", "webhook_url"]);
  return { ...typed, checks: withTypedTin(fieldValues(request, "checks"), typed.tin) };
}

function echoOf(typed: VendorInput): EchoedVendorInput {
  return { ...withoutTin(typed), webhook_url: echoOfUrl(typed.webhook_url) };
}

/** Returns the address of a search for a vendor in the registry by what is known of it. */
function searchPathOf({ view }: Visit, { legalName, addresses: [address] }: Entity): string {
  const line = address && [address.line1, address.city, address.state, address.zip].filter(Boolean).join(", ");
  return pathWithQuery(`${view.path}/vendors/search`, { legal_name: legalName, address: line ?? "" });
}
