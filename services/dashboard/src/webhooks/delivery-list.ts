import type { Attempt, Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Request } from "express";
import { pathWithQuery } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { namesNote, type Vendors, vendorName } from "../page/panels.ts";
import { changesText } from "../ui/change-list.ts";
import { VERBATIM } from "../ui/fields.ts";
import { choiceField, type FilterField, idField, periodFields, typedField, utcTime } from "../ui/filter.ts";
import { type Notice, state, timeAgo } from "../ui/parts.ts";
import { aside, type Column, none } from "../ui/table.ts";
import { counted, durationText } from "../ui/vocabulary.ts";
import { briefOutcome, deliveryState } from "./endpoints-page.ts";

/** Said while deliveries are unavailable. */
export const KEPT = "Events are not lost.";

/** The pages above those of single deliveries. */
export const ofDeliveries = [
  ["/webhooks", "Webhooks"],
  ["/webhooks/deliveries", "Deliveries"],
] as const;

/** Shown while there are no deliveries at all. */
export const NO_DELIVERIES =
  "No deliveries yet. When a monitor finds a change, its event appears here with every attempt to deliver it.";

/** A field for the URL of monitors. */
export const urlField: FilterField = typedField("Webhook URL", {
  accepts: (text) => /^https?:/i.test(text) && URL.canParse(text),
  problem: "Enter the whole URL, exactly as it is set in the monitor.",
  attributes: html` type="text" maxlength="2048"${VERBATIM} placeholder="https://…"`,
});

// Deliveries that wait for a retry fail too.
const statuses = { "": "any", pending: "pending", delivered: "delivered", failed: "failing" };

/** Creates the list of deliveries, newest first. */
export const createDeliveryList = (context: PageContext) =>
  listPage(context, {
    path: "/webhooks/deliveries",
    noun: "deliveries",
    parents: [["/webhooks", "Webhooks"]],
    fields: {
      status: choiceField("State", statuses),
      event_id: idField("evt"),
      monitor_id: idField("mon"),
      url: urlField,
      ...periodFields,
      tests: choiceField("Events", { "": "all", only: "only test events" }),
    },
    positions: byTime("dlv"),
    limit: 25,
    async read(visit, { status, event_id, monitor_id, url, from, to, tests }, page) {
      const { deliveries, next } = await context.deliveries.listDeliveries({
        ...{
          caller: visit.caller,
          status: status === "failed" ? "failing" : status,
          eventId: event_id,
          monitorId: monitor_id,
          webhookUrl: url,
          page,
        },
        ...{ from: utcTime(from), to: utcTime(to), testsOnly: tests === "only" },
      });
      return { rows: deliveries, next, vendors: await context.readVendors(visit, deliveries) };
    },
    columns: ({ visit, found: { vendors } }) => deliveryColumns(visit, vendors),
    actions({ view, may }, { monitor_id, url, from }) {
      const replay = pathWithQuery(`${view.path}/webhooks/replay`, { monitor_id, url, since: from });
      return (
        may("manage_webhooks") &&
        html`<p class="choices"><a class="button quiet" href="${view.path}/webhooks/test">Send a test event</a> <a class="button quiet" href="${replay}">Replay failed deliveries</a></p>`
      );
    },
    notice: startedNotice,
    above: (found) => namesNote(found),
    meanwhile: KEPT,
    empty: () => NO_DELIVERIES,
    curl: () => ["listEvents", "List all events", { path: "/v1/events" }],
  });

/** Returns the columns that show deliveries with their changes, state and attempts. */
export function deliveryColumns({ view, now }: Visit, vendors: Vendors | undefined): readonly Column<Delivery>[] {
  return [
    [
      "Event",
      ({ id, test, entityId }) =>
        html`<a href="${view.path}/webhooks/deliveries/${id}">${test ? "Test event" : vendorName(vendors, entityId)}</a>`,
      "long",
    ],
    ["Changes", ({ changes }) => aside(changesText(changes)), "long"],
    ["State", (each) => html`${deliveryState(each)}${each.test && html` ${state("test")}`}`],
    ["Webhook URL", ({ webhookUrl }) => html`<code title="${webhookUrl}">${webhookUrl}</code>`, "long"],
    ["Attempts", ({ attempts }) => attemptsText(attempts), "long"],
    ["Time", ({ createdAt }) => timeAgo(createdAt, now)],
  ];
}

function attemptsText(attempts: readonly Attempt[]): Html {
  const last = attempts.at(-1);
  if (!last) return none("none yet");
  return html`${counted(attempts.length, "attempt")}${aside(`${briefOutcome(last)}, ${durationText(Number(last.durationMs))}`)}`;
}

/** Returns the notice about a replay of failed deliveries that was just started. */
function startedNotice({ query: { begun } }: Pick<Request, "query">): Notice | undefined {
  if (typeof begun !== "string" || !/^\d{1,6}$/.test(begun)) return undefined;
  const begin = counted(Number(begun), "failed delivery starts", "failed deliveries start");
  const text = `${begin} again. This list shows their progress.`;
  return { kind: "done", text };
}
