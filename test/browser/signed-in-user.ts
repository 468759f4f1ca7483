import type { Page } from "playwright-core";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { launchBrowser, newProfile } from "./browser.ts";
import { expectNoComplaints, signIn } from "./dashboard-page.ts";

/** Starts a browser for the tests of a file, in which a user of a new organization is signed in. */
export async function signedInUser(options: Parameters<typeof newProfile>[1] = {}) {
  const [browser, organization] = await Promise.all([launchBrowser(), createOrganization()]);
  const context = await newProfile(browser, { baseURL: sharedProduct().dashboardUrl, ...options });
  expectNoComplaints(context);
  const page = await context.newPage();
  await signIn(page, organization);
  /** Opens a page in a profile of its own, in which the user is signed in too; by default without scripts. */
  async function secondPage(ofProfile: typeof options = { javaScriptEnabled: false }): Promise<Page> {
    const profile = await newProfile(browser, { baseURL: sharedProduct().dashboardUrl, ...ofProfile });
    const second = await profile.newPage();
    await signIn(second, organization);
    return second;
  }
  return { browser, organization, context, page, secondPage };
}
