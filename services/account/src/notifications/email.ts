import { html } from "@vvs/http/html";
import type { Mail } from "../model/mail.ts";
import {
  type Notification,
  type NotificationKind,
  notificationKinds,
  type PendingNotificationsDocument,
} from "../model/notifications.ts";

/** Maximum length of a line about what happened. */
const MAX_LINE = 200;

const words: Readonly<Record<NotificationKind, { heading: string; one: string; many: string }>> = {
  excluded: { heading: "Exclusions", one: "exclusion", many: "exclusions" },
  failed: { heading: "Failed checks", one: "failed check", many: "failed checks" },
  expiring: {
    heading: "Registrations that end soon",
    one: "registration that ends soon",
    many: "registrations that end soon",
  },
  changed: { heading: "Other changes of vendors", one: "other change of a vendor", many: "other changes of vendors" },
  deliveries: {
    heading: "Failing webhook endpoints",
    one: "failing webhook endpoint",
    many: "failing webhook endpoints",
  },
  keys: { heading: "API keys", one: "API key", many: "API keys" },
};

interface Item {
  readonly title: string;
  readonly url: string;
  readonly lines: readonly string[];
}

interface Section {
  readonly heading: string;
  readonly items: readonly Item[];
  /** How many more there are. */
  readonly more: number;
}

interface Links {
  readonly overview: string;
  readonly settings: string;
  readonly unsubscribe: string;
}

export type NotificationEmail = ReturnType<typeof createNotificationEmail>;

/** Writes the emails about what waits for a member. Links lead to the public URL of the dashboard. */
export function createNotificationEmail({ dashboardUrl }: { dashboardUrl: URL }) {
  const url = (path: string) => new URL(path, dashboardUrl).href;
  const itemOf = ({ title, path, lines }: Notification): Item => ({
    title: clean(title),
    url: url(path),
    lines: lines.map(clean),
  });

  return (
    pending: Pick<PendingNotificationsDocument, "listed" | "counts">,
    { to, organizationName, token }: { to: string; organizationName: string; token: string },
  ): Mail => {
    const found = notificationKinds.filter((kind) => pending.counts[kind]);
    const sections = found.map((kind): Section => {
      const items = pending.listed.filter((each) => each.kind === kind).map(itemOf);
      const count = pending.counts[kind] ?? 0;
      return { heading: `${words[kind].heading} (${count})`, items, more: count - items.length };
    });
    const counts = found.map((kind) => {
      const count = pending.counts[kind] ?? 0;
      return `${count} ${count === 1 ? words[kind].one : words[kind].many}`;
    });
    const unsubscribe = new URL("/unsubscribe", dashboardUrl);
    unsubscribe.searchParams.set("token", token);
    const links = {
      overview: url("/live/overview"),
      settings: url("/live/notifications"),
      unsubscribe: unsubscribe.href,
    };
    const intro = `What happened in the live environment of ${clean(organizationName)}.`;
    return {
      kind: "notification",
      to,
      subject: `Vendor Verification: ${counts.join(", ")}`,
      text: textOf(intro, sections, links),
      html: htmlOf(intro, sections, links),
      unsubscribeUrl: links.unsubscribe,
    };
  };
}

const REASON = "You get this email because of your notification settings in Vendor Verification.";

function textOf(intro: string, sections: readonly Section[], { overview, settings, unsubscribe }: Links): string {
  const parts = sections.flatMap(({ heading, items, more }) => [
    `${heading}\n${"-".repeat(heading.length)}`,
    ...items.map(({ title, url, lines }) => [title, ...[...lines, url].map((line) => `  ${line}`)].join("\n")),
    ...(more > 0 ? [`And ${more} more: ${overview}`] : []),
  ]);
  const footer = [`${REASON}\nChange them: ${settings}\nStop these emails: ${unsubscribe}`];
  return `${[intro, ...parts, ...footer].join("\n\n")}\n`;
}

function htmlOf(intro: string, sections: readonly Section[], { overview, settings, unsubscribe }: Links): string {
  const parts = sections.map(
    ({ heading, items, more }) => html`<h2 style="font-size:18px;margin:24px 0 8px">${heading}</h2>
<ul style="margin:0;padding-left:20px">
${items.map(
  ({ title, url, lines }) =>
    html`<li style="margin:0 0 12px"><a href="${url}"><strong>${title}</strong></a>${lines.map((line) => html`<br>${line}`)}</li>
`,
)}</ul>
${more > 0 && html`<p>And <a href="${overview}">${more} more</a>.</p>`}
`,
  );
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="font-family:Arial,Helvetica,sans-serif;font-size:15px;line-height:1.5;max-width:640px">
<p>${intro}</p>
${parts}<p style="margin-top:32px;font-size:13px">${REASON} <a href="${settings}">Change them</a> or <a href="${unsubscribe}">stop these emails</a>.</p>
</body>
</html>
`.markup;
}

/** Returns a text of others on one line, without characters that nobody sees, which could change how the email reads. */
function clean(text: string): string {
  const plain = text.replaceAll(/[\p{C}\p{Z}\s]+/gu, " ").trim();
  return Array.from(plain).slice(0, MAX_LINE).join("");
}
