import type { MailboxMail } from "@vvs/proto/account/v1/entry";
import { type Html, html } from "../http/html.ts";
import { facts, time } from "./parts.ts";

/** The mails of a local run. */
export function mailboxPage(options: { mails: readonly MailboxMail[]; ownOrigin: string }): Html {
  const { mails, ownOrigin } = options;
  return html`<div class="heading"><h1>Mailbox</h1><p><a class="button quiet" href="/mailbox">Look again</a></p></div>
<p>This run sends no mails: what it would send is here, whomever it is to, the newest first.</p>
${
  mails.length === 0
    ? html`<p class="empty">No mails yet. <a href="/sign-up">Create an account</a>, or say that you <a href="/forgot-password">forgot your password</a>, and look again.</p>`
    : mails.map((mail) => mailArticle(mail, ownOrigin))
}`;
}

function mailArticle(mail: MailboxMail, ownOrigin: string): Html {
  return html`<article class="card mail" aria-labelledby="${mail.id}">
<h2 id="${mail.id}">${mail.subject}</h2>
${facts([
  ["To", mail.to],
  ["At", time(mail.receivedAt, "second")],
])}
${mail.text
  .trim()
  .split("\n\n")
  .map((paragraph) => html`<p>${linked(paragraph, ownOrigin)}</p>`)}
</article>`;
}

/** Our own links can be followed; anything else is text. */
function linked(text: string, ownOrigin: string): Html | string {
  return text.startsWith(`${ownOrigin}/`) && !/\s/.test(text) ? html`<a href="${text}">${text}</a>` : text;
}
