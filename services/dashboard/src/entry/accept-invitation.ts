import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { Client } from "@vvs/rpc";
import type { Express, RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { HOME } from "../http/next-path.ts";
import type { Layout } from "../ui/layout.ts";
import { acceptInvitationPage, invitationLinkInvalidPage, joinedPage } from "./accept-invitation-page.ts";
import type { BeginSession } from "./sign-in.ts";
import { isCode, noticeOf } from "./sign-up.ts";

/** Handlers with which people join an existing organization. */
export interface AcceptInvitationHandlers {
  /** Shows the page that the link in the email opens. Only its form uses the link, because mail scanners open links too. */
  readonly show: RequestHandler;
  readonly accept: RequestHandler;
}

export function createAcceptInvitationHandlers(options: {
  organization: Pick<Client<typeof OrganizationService>, "getInvitation" | "acceptInvitation">;
  layout: Layout;
  beginSession: BeginSession;
}): AcceptInvitationHandlers {
  const { organization, layout, beginSession } = options;

  async function send(response: Response, token: string, refused?: { status: number; problem: string }): Promise<void> {
    try {
      const invitation = await organization.getInvitation({ token });
      const content = acceptInvitationPage({ token, invitation, problem: refused?.problem });
      layout.sendBarePage(response, { title: "Accept your invitation", status: refused?.status, content });
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
      layout.sendBarePage(response, {
        title: "Link no longer works",
        status: 404,
        content: invitationLinkInvalidPage(),
      });
    }
  }

  return {
    show(request, response) {
      return send(response, queryValue(request, "token"));
    },

    async accept(request, response) {
      const token = field(request, "token");
      try {
        const accepted = await organization.acceptInvitation({
          token,
          password: field(request, "password"),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        await beginSession(request, response, accepted);
        response.redirect(303, HOME);
      } catch (error) {
        if (isCode(error, "not_found")) return send(response, token);
        if (isCode(error, "forbidden")) {
          return layout.sendBarePage(response, { title: "You have joined", content: joinedPage(error.message) });
        }
        if (isCode(error, "rate_limited")) {
          return send(response, token, { status: 429, problem: noticeOf(response, error).text });
        }
        if (!isCode(error, "invalid_request")) throw error;
        await send(response, token, { status: 400, problem: `The password ${error.details[0]?.message}.` });
      }
    },
  };
}

/** Adds the routes of invitation links, which need no session. */
export function addAcceptInvitationRoutes(app: Express, handlers: AcceptInvitationHandlers): void {
  app.get("/invitation", handlers.show);
  app.post("/invitation", handlers.accept);
}
