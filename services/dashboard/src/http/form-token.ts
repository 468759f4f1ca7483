import { createHash, randomBytes } from "node:crypto";
import type { Request, Response } from "express";
import { clearCookie, readCookie, writeCookie } from "./cookies.ts";
import { field } from "./form.ts";

/** The hidden field of a form that must not take effect twice. */
export const FORM_TOKEN = "form_token";
/** A second click was sent by then; what its first did is kept for it so long. */
const SECOND_CLICK_MS = 10_000;

/** Thrown for a form that was sent before: by reloading its answer, or because another tab sent one meanwhile. */
export class FormUsedError extends Error {}

export interface FormTokens {
  /** The token for the forms of a page. */
  issue(request: Request, response: Response): string;
  /**
   * Runs what a form asks for, once. The browser holds the one token that is open, and loses it by success, so that
   * also another instance refuses the form then. A second click, on its way before that, gets the first one's result.
   * Errors: FormUsedError, and what `run` throws, after which the same form may be corrected and sent again.
   */
  once<T>(request: Request, response: Response, run: () => Promise<T>): Promise<T>;
}

export function createFormTokens(): FormTokens {
  const recent = new Map<string, Promise<unknown>>();
  return {
    issue(request, response) {
      const open = readCookie(request, "__Host-form");
      if (open) return open;
      const token = randomBytes(16).toString("base64url");
      writeCookie(response, "__Host-form", token);
      return token;
    },

    async once<T>(request: Request, response: Response, run: () => Promise<T>): Promise<T> {
      const open = readCookie(request, "__Host-form");
      if (!open || field(request, FORM_TOKEN) !== open) throw new FormUsedError();
      const id = submissionId(request);
      const first = recent.get(id) as Promise<T> | undefined;
      const result = first ?? run();
      if (!first) recent.set(id, result);
      try {
        const value = await result;
        clearCookie(response, "__Host-form");
        if (!first) setTimeout(() => recent.delete(id), SECOND_CLICK_MS).unref();
        return value;
      } catch (error) {
        recent.delete(id);
        throw error;
      }
    },
  };
}

/** The same for the same form with the same content, sent by the same session. */
function submissionId(request: Request): string {
  const session = readCookie(request, "__Host-session") ?? "";
  const text = JSON.stringify([session, request.path, request.body]);
  return createHash("sha256").update(text).digest("base64url");
}
