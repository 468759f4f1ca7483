import { ServiceError } from "@vvs/errors";
import type { Request, Response } from "express";
import { field } from "../http/form.ts";
import { type PageHandlers, sessionCaller, type Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { recoveryCodesPage, setUpPage } from "./two-factor-page.ts";

export function createTwoFactorHandlers({ sessions, layout }: PageContext) {
  async function sendSetUp(request: Request, response: Response, visit: Visit, problem?: string): Promise<void> {
    const { secret, uri } = await sessions.beginTotp({ caller: sessionCaller(request, response) });
    const content = setUpPage({ base: visit.view.path, secret, uri, problem });
    const title = "Set up an authenticator app";
    // Holds a secret, so it is not compressed.
    response.set("cache-control", "no-store, no-transform");
    layout.sendPage(response, { visit, section: "security", title, status: problem ? 400 : 200, content });
  }

  return {
    setUp: (request, response, visit) => sendSetUp(request, response, visit),

    async enable(request, response, visit) {
      try {
        const code = field(request, "code");
        const { recoveryCodes } = await sessions.enableTotp({ caller: sessionCaller(request, response), code });
        const content = recoveryCodesPage(visit.view.path, recoveryCodes);
        layout.sendPage(response, { visit, section: "security", title: "Two-factor sign-in is on", content });
      } catch (error) {
        const message = error instanceof ServiceError && error.details.find(({ path }) => path === "code")?.message;
        if (!message) throw error;
        await sendSetUp(request, response, visit, `This ${message}.`);
      }
    },

    async disable(request, response, visit) {
      await sessions.disableTotp({ caller: sessionCaller(request, response) });
      response.redirect(303, `${visit.view.path}/security?done=two-factor-off`);
    },
  } satisfies PageHandlers;
}
