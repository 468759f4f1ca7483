import { type Html, html } from "../http/html.ts";

/** Shown in place of deliveries while the webhook dispatcher is unavailable. */
export const deliveriesUnavailable: Html = html`<p class="notice problem" role="alert">Deliveries can’t be shown, because a service is temporarily unavailable. Events are not lost. Try again in a moment.</p>`;

/** The content of a page about deliveries while the webhook dispatcher is unavailable. */
export function deliveriesUnavailablePage(title: string): Html {
  return html`<h1>${title}</h1>
${deliveriesUnavailable}`;
}
