import { eventually } from "@vvs/testing";
import type { Locator, Page } from "playwright-core";

/** Opens the local mailbox; returns the newest mail to an address with that subject, once it has arrived. */
export async function openMail(page: Page, mail: { to: string; subject: string }): Promise<Locator> {
  const found = page
    .getByRole("article")
    .filter({ hasText: mail.to })
    .filter({ has: page.getByRole("heading", { name: mail.subject }) });
  await eventually(
    async () => {
      await page.goto("/mailbox");
      return (await found.count()) > 0;
    },
    { everyMs: 500 },
  );
  return found.first();
}
