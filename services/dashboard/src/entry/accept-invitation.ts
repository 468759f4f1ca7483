import type { RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { HOME } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { acceptInvitationPage, invalidInvitationPage, joinedPage } from "./accept-invitation-page.ts";

/** Creates the handlers with which people join an existing organization. */
export function createAcceptInvitationHandlers({ organization, layout, beginSession }: PageContext) {
  async function send(response: Response, token: string, refused?: { status: number; problem: string }): Promise<void> {
    try {
      const invitation = await organization.getInvitation({ token });
      const content = acceptInvitationPage({ token, invitation, problem: refused?.problem });
      layout.sendBarePage(response, { title: "Accept your invitation", status: refused?.status, content });
    } catch (error) {
      if (!isRefusal(error, "not_found")) throw error;
      layout.sendBarePage(response, { title: "Link no longer works", status: 404, content: invalidInvitationPage() });
    }
  }

  return {
    /** Shows the page that the link in the email opens. Only its form uses the link, because mail scanners open links too. */
    show: (request, response) => send(response, queryValue(request, "token")),

    async accept(request, response) {
      const token = field(request, "token");
      try {
        const invited = { token, password: field(request, "password"), ...browserOf(request) };
        await beginSession(request, response, await organization.acceptInvitation(invited, whileConnected(response)));
        response.redirect(303, HOME);
      } catch (error) {
        if (isRefusal(error, "not_found")) return send(response, token);
        if (isRefusal(error, "forbidden")) {
          return layout.sendBarePage(response, { title: "You have joined", content: joinedPage(error.message) });
        }
        if (isRefusal(error, "rate_limited")) {
          return send(response, token, { status: 429, problem: refusalNotice(response, error).text });
        }
        if (!isRefusal(error, "invalid_request")) throw error;
        await send(response, token, { status: 400, problem: `The password ${error.details[0]?.message}.` });
      }
    },
  } satisfies Record<string, RequestHandler>;
}
