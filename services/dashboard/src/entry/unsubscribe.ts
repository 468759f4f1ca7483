import type { RequestHandler } from "express";
import { queryValue } from "../http/form.ts";
import { html } from "../http/html.ts";
import { isRefusal } from "../http/refusal.ts";
import type { PageContext } from "../page/page-context.ts";

const UNSUBSCRIBE_PATH = "/unsubscribe";
const settings = html`<p class="choices"><a class="button" href="/live/notifications">Open your settings</a></p>`;

/**
 * Creates the handlers of the link that ends the emails about notifications. Opening it changes nothing, because mail scanners
 * open links too. The form's POST does, and so does the one that email programs send (RFC 8058): it has no session, comes from
 * no page of the dashboard, and its body is not read, so only the token in the address counts.
 */
export function createUnsubscribe({ notificationSettings, layout }: PageContext) {
  return {
    path: UNSUBSCRIBE_PATH,

    ask: ((request, response) => {
      const action = `${UNSUBSCRIBE_PATH}?${new URLSearchParams({ token: queryValue(request, "token") })}`;
      const content = html`<p>You will get no more emails about vendors and API keys of your organization. Emails about your own account still come, and other members still get theirs.</p>
<form method="post" action="${action}"><button>Stop these emails</button></form>`;
      layout.sendCard(response, { title: "Stop notification emails?", content });
    }) satisfies RequestHandler,

    unsubscribe: (async (request, response) => {
      try {
        await notificationSettings.unsubscribe({ token: queryValue(request, "token") });
        const content = html`<p>You get no more of these emails. You can turn them on again at any time.</p>
${settings}`;
        layout.sendCard(response, { title: "Notification emails are off", content });
      } catch (error) {
        if (!isRefusal(error, "not_found")) throw error;
        const content = html`<p>A part of the link is missing, or you are no longer a member of the organization. If you still get emails, sign in and turn them off in your settings.</p>
${settings}`;
        layout.sendCard(response, { title: "Link does not work", status: 404, content });
      }
    }) satisfies RequestHandler,
  };
}
