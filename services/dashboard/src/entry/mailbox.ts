import type { RequestHandler } from "express";
import type { PageContext } from "../page-context.ts";
import { mailboxPage } from "./mailbox-page.ts";

/** Creates the handler that shows the emails of a local run. */
export function createMailbox({ entry, layout, url }: PageContext): RequestHandler {
  return async (_request, response) => {
    const { mails } = await entry.listMailbox({});
    layout.sendBarePage(response, { title: "Mailbox", content: mailboxPage({ mails, ownOrigin: url.origin }) });
  };
}
