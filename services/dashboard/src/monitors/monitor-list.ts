import { timestampDate } from "@bufbuild/protobuf/wkt";
import { outcomeName } from "@vvs/checks/words";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { html } from "../http/html.ts";
import { permissionHint } from "../http/roles.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { namesNote, vendorName } from "../page/panels.ts";
import { choiceField, idField } from "../ui/filter.ts";
import { checkTitle, outcomeState, until } from "../ui/parts.ts";
import { aside, none } from "../ui/table.ts";
import { hostOf } from "../ui/vocabulary.ts";
import { staleHint } from "../verdicts/confirmed-words.ts";
import { frequencyName } from "./monitor-form.ts";

const outcomes: Readonly<Record<string, CheckStatus>> = {
  pass: CheckStatus.PASS,
  fail: CheckStatus.FAIL,
  error: CheckStatus.ERROR,
};

/** Creates the list of monitors: the active or the canceled ones. */
export const createMonitorList = (context: PageContext) =>
  listPage(context, {
    path: "/monitors",
    noun: "monitors",
    fields: {
      status: choiceField("State", { "": "active", canceled: "canceled" }),
      outcome: choiceField(
        "Last outcome",
        {
          "": "any",
          ...Object.fromEntries(Object.keys(outcomes).map((each) => [each, outcomeName(each)])),
          unanswered: "no answer for a long time",
        },
        {
          hintOf: (chosen) =>
            chosen === "unanswered"
              ? "Every run has ended in an error for longer than three periods or one day."
              : undefined,
        },
      ),
      entity_id: idField("ent"),
    },
    positions: byTime("mon"),
    limit: 25,
    async read(visit, { status, outcome, entity_id: entityId }, page) {
      const { monitors, next } = await context.monitors.listMonitors({
        ...{ caller: visit.caller, entityId, page },
        canceled: status === "canceled",
        lastOutcome: outcomes[outcome],
        unanswered: outcome === "unanswered",
      });
      return { rows: monitors, next, vendors: await context.readVendors(visit, monitors) };
    },
    columns: ({ visit: { view, now }, found: { vendors } }) => [
      [
        "Vendor",
        ({ id, entityId, externalId }) =>
          html`<a href="${view.path}/monitors/${id}">${vendorName(vendors, entityId)}</a>${aside(externalId)}`,
        "long",
      ],
      [
        "Last outcome",
        ({ lastRun, consecutiveErrors, staleSince }) =>
          html`${lastRun ? outcomeState(lastRun.outcome) : none("none yet")}${aside(
            consecutiveErrors > 1 && `${consecutiveErrors} times in a row`,
            staleSince && staleHint(staleSince, now),
          )}`,
        "long",
      ],
      ["Checks", ({ checks }) => checks.map(checkTitle).join(", "), "short"],
      ["Frequency", ({ frequency }) => frequencyName(frequency)],
      ["Webhook", ({ webhookUrl }) => (webhookUrl ? hostOf(webhookUrl) : none()), "short"],
      ["Next check", ({ nextRunAt }) => (nextRunAt ? until(timestampDate(nextRunAt), now) : none())],
    ],
    actions: ({ view, may }) =>
      may("manage_monitors") &&
      html`<p><a class="button" href="${view.path}/vendors/search">Find a vendor to monitor</a></p>`,
    heading: ({ view }, { isNarrowed }) =>
      isNarrowed ? "Matching monitors" : `Active ${view.name.toLowerCase()} monitors`,
    above: (found) => namesNote(found),
    meanwhile: "They keep running.",
    empty({ view, may }) {
      const mayManage = may("manage_monitors");
      return html`<p class="empty">No monitors yet. A monitor checks a vendor regularly and sends changes to your webhook endpoint. ${mayManage && html`Select <em>Monitor</em> on the page of a <a href="${view.path}/vendors">vendor</a>, or call <code>POST /v1/monitors</code>.`}</p>${!mayManage && permissionHint(view, "manage_monitors", "create monitors")}`;
    },
    curl: () => ["listMonitors", "List monitors", { path: "/v1/monitors" }],
  });
