import type { MailboxMail } from "@vvs/proto/account/v1/entry";
import type { RequestHandler } from "express";
import { type Html, html } from "../http/html.ts";
import type { PageContext } from "../page/page-context.ts";
import { facts, time } from "../ui/parts.ts";

/** Creates the handler that shows the emails of a local run. */
export function createMailbox({ entry, layout, url }: PageContext): RequestHandler {
  return async (_request, response) => {
    const { mails } = await entry.listMailbox({});
    const beside = html`<p><a class="button quiet" href="/mailbox">Refresh</a></p>`;
    layout.sendPage(response, { title: "Mailbox", beside, content: mailboxPage(mails, url.origin) });
  };
}

/** The page with the emails of a local run. */
function mailboxPage(mails: readonly MailboxMail[], ownOrigin: string): Html {
  return html`<p>A local run sends no emails. The emails that it would have sent to anyone are listed here, newest first.</p>
${
  mails.length === 0
    ? html`<p class="empty">No emails yet. <a href="/sign-up">Create an account</a> or <a href="/forgot-password">reset your password</a>, then refresh this page.</p>`
    : mails.map((mail) => mailArticle(mail, ownOrigin))
}`;
}

function mailArticle(mail: MailboxMail, ownOrigin: string): Html {
  return html`<article class="card mail" aria-labelledby="${mail.id}">
<h2 id="${mail.id}">${mail.subject}</h2>
${facts([
  ["To", mail.to],
  ["Sent", time(mail.receivedAt, "second")],
])}
${mail.text
  .trim()
  .split("\n\n")
  .map((paragraph) => html`<p>${paragraph.split("\n").map((line) => html`${linked(line, ownOrigin)}<br>`)}</p>`)}
</article>`;
}

/** Renders a link of the dashboard at the end of a line as a link, and everything else as text. */
function linked(line: string, ownOrigin: string): Html | string {
  const [, before, url] = /^(.*\s)?(\S+)$/.exec(line) ?? [];
  return url?.startsWith(`${ownOrigin}/`) ? html`${before}<a href="${url}">${url}</a>` : line;
}
