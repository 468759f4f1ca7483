import type { Locator, Page } from "playwright-core";
import { openUntil } from "./browser.ts";

/** Opens the local mailbox; returns the newest mail to an address with that subject, once it has arrived. */
export async function openMail(page: Page, mail: { to: string; subject: string }): Promise<Locator> {
  const found = page
    .getByRole("article")
    .filter({ hasText: mail.to })
    .filter({ has: page.getByRole("heading", { name: mail.subject }) });
  await openUntil("/mailbox", found);
  return found.first();
}
