import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { Client } from "@vvs/rpc";
import type { RequestHandler } from "express";
import type { Layout } from "../ui/layout.ts";
import { mailboxPage } from "./mailbox-page.ts";

/** Creates the handler that shows the emails of a local run. */
export function createMailbox(options: {
  entry: Pick<Client<typeof EntryService>, "listMailbox">;
  layout: Layout;
  url: URL;
}): RequestHandler {
  const { entry, layout, url } = options;
  return async (_request, response) => {
    const { mails } = await entry.listMailbox({});
    layout.sendBarePage(response, { title: "Mailbox", content: mailboxPage({ mails, ownOrigin: url.origin }) });
  };
}
