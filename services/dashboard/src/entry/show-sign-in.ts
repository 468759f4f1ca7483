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

/** What the page offers besides a password. */
type Offered = Pick<Parameters<typeof signInPage>[0], "ways" | "singleSignOn">;

/** Creates the function that sends the sign-in page. */
export function createShowSignIn(context: PageContext) {
  const { entry, layout } = context;
  let last: Offered | undefined;

  async function readOffered(): Promise<Offered> {
    const [ways, singleSignOn] = await Promise.all([
      // While the account service is unavailable, the page has no links.
      entry.getEntryOptions({}).catch(() => ({ signUpOpen: false, mailSent: false })),
      readChoices(context),
    ]);
    last = { ways, singleSignOn };
    return last;
  }

  return async (response: Response, shown: ShownSignIn): Promise<void> => {
    // A flood of attempts that are refused must not cost further calls.
    const offered = shown.status === 429 && last ? last : await readOffered();
    layout.sendBarePage(response, {
      title: "Sign in",
      status: shown.status,
      content: signInPage({ ...shown, ...offered }),
    });
  };
}
