import type { Response } from "express";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { signInPage } from "./sign-in-page.ts";
import { readChoices } from "./single-sign-on.ts";

/** What the sign-in page shows. */
interface ShownSignIn {
  /** The path to which signing in leads. */
  readonly next: string;
  readonly email: string;
  readonly notice: Notice | undefined;
  /** HTTP status; 200 if absent. */
  readonly status?: number;
}

/** Creates the function that sends the sign-in page. */
export function createShowSignIn(context: PageContext) {
  const { entry, layout } = context;
  return async (response: Response, shown: ShownSignIn): Promise<void> => {
    const [ways, singleSignOn] = await Promise.all([
      // While the account service is unavailable, the page has no links.
      entry.getEntryOptions({}).catch(() => ({ signUpOpen: false, mailSent: false })),
      readChoices(context),
    ]);
    const content = signInPage({ ...shown, ways, singleSignOn });
    layout.sendBarePage(response, { title: "Sign in", status: shown.status, content });
  };
}
