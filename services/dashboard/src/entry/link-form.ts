import type { Request, RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import type { Layout } from "../ui/layout.ts";

/**
 * Creates the handlers of the page that a link in an email opens, and of its form for a password. Opening the link changes
 * nothing, because mail scanners open links too: only the form uses it.
 */
export function createLinkForm<T>(
  layout: Layout,
  options: {
    readonly title: string;
    /** Reads what the link is for. Errors: not_found if it no longer works. */
    readonly read: (token: string) => Promise<T>;
    readonly form: (found: T, token: Html, problem: string | undefined) => { readonly heading?: string; content: Html };
    /** The page for a link that no longer works. */
    readonly invalid: { readonly heading: string; readonly content: Html };
    readonly use: (request: Request, response: Response, token: string, password: string) => Promise<void>;
    /** The subject of the sentence about a refused password; the account service sends the rest. */
    readonly subject: string;
  },
): { readonly show: RequestHandler; readonly submit: RequestHandler } {
  async function send(response: Response, token: string, refused?: { status: number; problem: string }): Promise<void> {
    try {
      const found = await options.read(token);
      const { title } = options;
      const page = options.form(found, html`<input type="hidden" name="token" value="${token}">`, refused?.problem);
      layout.sendCard(response, { title, status: refused?.status, ...page });
    } catch (error) {
      if (!isRefusal(error, "not_found")) throw error;
      layout.sendCard(response, { title: "Link no longer works", status: 404, ...options.invalid });
    }
  }

  return {
    show: (request, response) => send(response, queryValue(request, "token")),

    async submit(request, response) {
      const token = field(request, "token");
      try {
        await options.use(request, response, token, field(request, "password"));
      } catch (error) {
        if (isRefusal(error, "not_found")) return send(response, token);
        if (isRefusal(error, "unauthorized", "rate_limited")) {
          const { text: problem } = refusalNotice(response, error);
          return send(response, token, { status: error.code === "unauthorized" ? 401 : 429, problem });
        }
        if (!isRefusal(error, "invalid_request")) throw error;
        await send(response, token, { status: 400, problem: `${options.subject} ${error.details[0]?.message}.` });
      }
    },
  };
}

/** Renders the address of an account for programs that keep passwords. */
export const unseenEmail = (email: string): Html =>
  html`<div class="unseen"><input type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-label="Email address"></div>`;
