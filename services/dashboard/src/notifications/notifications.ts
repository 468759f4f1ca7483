import {
  NotificationFrequency,
  NotificationKind,
  type NotificationSettings,
} from "@vvs/proto/account/v1/notifications";
import type { Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { choiceGroup } from "../ui/fields.ts";
import { type Notice, noticeOf } from "../ui/parts.ts";

const frequencies = [
  { value: "off", of: NotificationFrequency.OFF, label: "Never" },
  {
    value: "now",
    of: NotificationFrequency.NOW,
    label: "Soon after it happened",
    meaning: "What happens within some minutes comes in one email.",
  },
  {
    value: "daily",
    of: NotificationFrequency.DAILY,
    label: "Once a day, at 13:00 UTC",
    meaning: "Only on days on which something happened.",
  },
];

const kinds = [
  {
    value: "excluded",
    of: NotificationKind.EXCLUDED,
    label: "Exclusions",
    meaning: "A vendor is excluded from federal awards, or its exclusion changed.",
  },
  {
    value: "failed",
    of: NotificationKind.FAILED,
    label: "Failed checks",
    meaning: "A vendor no longer passes a check.",
  },
  {
    value: "expiring",
    of: NotificationKind.EXPIRING,
    label: "Registrations that end soon",
    meaning: "The SAM.gov registration of a monitored vendor ends in 60, 30 or 7 days.",
  },
  {
    value: "changed",
    of: NotificationKind.CHANGED,
    label: "Other changes of vendors",
    meaning: "For example, a registered name or an expiration date changed, or a vendor passes a check again.",
  },
  {
    value: "deliveries",
    of: NotificationKind.DELIVERIES,
    label: "Failing webhook endpoints",
    meaning: "All deliveries to an endpoint have failed for an hour.",
  },
  {
    value: "keys",
    of: NotificationKind.KEYS,
    label: "API keys",
    meaning: "A key expires in 30, 7 or 1 days, or was not used for 90 days.",
  },
];

const notices = { saved: "Your settings were saved." };
const UNREAD: Notice = { kind: "problem", text: "Choose how often you want an email. Nothing was changed." };

/** Creates the handlers of the page where users choose their emails. */
export function createNotificationHandlers({ notificationSettings, layout }: PageContext) {
  async function send(response: Response, visit: Visit, shown: { notice?: Notice | undefined; status?: number }) {
    const { settings } = await notificationSettings.getNotificationSettings(visit.bySession);
    const content = notificationPage(visit, settings);
    layout.sendPage(response, { visit, title: "Notifications", ...shown, content });
  }

  return {
    view: (request, response, visit) => send(response, visit, { notice: noticeOf(request, notices) }),

    async save(request, response, visit) {
      const frequency = frequencies.find(({ value }) => value === field(request, "frequency"))?.of;
      const picked = fieldValues(request, "kinds");
      const chosen = kinds.filter(({ value }) => picked.includes(value)).map(({ of }) => of);
      try {
        const settings = { frequency, kinds: chosen };
        await notificationSettings.setNotificationSettings({ ...visit.bySession, settings });
      } catch (error) {
        if (!isRefusal(error, "invalid_request")) throw error;
        return send(response, visit, { notice: UNREAD, status: 400 });
      }
      response.redirect(303, `${visit.view.path}/notifications?done=saved`);
    },
  } satisfies PageHandlers;
}

function notificationPage(visit: Visit, settings: NotificationSettings | undefined): Html {
  const { session, view } = visit;
  const frequency = frequencies.find(({ of }) => of === settings?.frequency)?.value;
  const picked = kinds.filter(({ of }) => settings?.kinds.includes(of)).map(({ value }) => value);
  const mayKeys = visit.may("manage_keys");
  const offered = kinds.filter(({ of }) => mayKeys || of !== NotificationKind.KEYS);
  return html`<p>Emails to <strong>${session.email}</strong> about what happens in the live environment. Each member chooses for themselves.</p>
<form method="post" action="${view.path}/notifications" class="card">
  ${choiceGroup({ type: "radio", name: "frequency", legend: "How often", choices: frequencies, picked: frequency ? [frequency] : [] })}
  ${choiceGroup({ type: "checkbox", name: "kinds", legend: "What about", choices: offered, picked })}
  ${!mayKeys && picked.includes("keys") && html`<input type="hidden" name="kinds" value="keys">`}
  <button>Save</button>
</form>`;
}
