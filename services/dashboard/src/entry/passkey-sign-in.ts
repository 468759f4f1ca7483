import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { html } from "../http/html.ts";
import { nextPath } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { usePasskey } from "../security/passkeys.ts";
import type { ShowSignIn } from "./sign-in.ts";

/** How long the account service waits for the browser's answer. */
const CEREMONY_MS = 5 * 60_000;

/** Creates the handlers for signing in with a passkey. */
export function createPasskeySignIn({ passkeys, layout, beginSession, now }: PageContext, showSignIn: ShowSignIn) {
  async function send(request: Request, response: Response, shown: { next: string; problem?: string }): Promise<void> {
    try {
      const { ceremonyToken, optionsJson } = await passkeys.beginPasskeySignIn({ clientAddress: request.ip ?? "" });
      const [ceremony, until] = [shortHash(ceremonyToken), new Date(now().getTime() + CEREMONY_MS)];
      writeTabCookie(request, response, `__Host-passkey-${ceremony}`, ceremonyToken, until);
      layout.sendCard(response, {
        ...{ title: "Sign in with a passkey", status: shown.problem ? 401 : 200 },
        ...usePasskey({
          ...{ ...shown, ceremony, optionsJson, action: "/sign-in/passkey" },
          reason: html`Your device asks for your fingerprint, face or PIN.`,
          byPassword: { path: "/sign-in", text: "Sign in with your password." },
        }),
      });
    } catch (error) {
      await refuse(response, shown.next, error);
    }
  }

  /** Answers too many attempts with the other ways to sign in. Other errors are thrown as they are. */
  async function refuse(response: Response, next: string, error: unknown): Promise<void> {
    if (!isRefusal(error, "rate_limited")) throw error;
    await showSignIn(response, { next, email: "", notice: refusalNotice(response, error), status: 429 });
  }

  return {
    ask: (request, response) => send(request, response, { next: nextPath(queryValue(request, "next")) }),

    async signIn(request, response) {
      const next = nextPath(field(request, "next"));
      const cookie = `__Host-passkey-${field(request, "ceremony")}` as const;
      try {
        const newSession = await passkeys.signInWithPasskey({
          ceremonyToken: readCookie(request, cookie),
          responseJson: field(request, "response"),
          ...browserOf(request),
        });
        clearCookie(response, cookie);
        await beginSession(request, response, newSession);
        response.redirect(303, next);
      } catch (error) {
        if (!isRefusal(error, "unauthorized", "forbidden")) return refuse(response, next, error);
        await send(request, response, { next, problem: error.message });
      }
    },
  } satisfies Record<string, RequestHandler>;
}
