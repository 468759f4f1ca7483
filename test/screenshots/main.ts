import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withAccounts } from "../../deploy/local/seed.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { launchBrowser, newProfile } from "../browser/browser.ts";
import { signIn } from "../browser/dashboard-page.ts";
import setup from "../setup/product.ts";
import type { TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { startSubscriber } from "../support/subscriber.ts";
import { type FoundPage, findPages, PUBLIC_PAGES, takeScreenshots } from "./pages.ts";
import { realisticOrganization } from "./realistic-organization.ts";
import { unlinkedPages } from "./unlinked-pages.ts";

const folder = join(projectRoot, ".cache", "screenshots");
const say = (line: string) => process.stderr.write(`${line}\n`);

/** Starts the product, fills it with realistic data, and takes screenshots of every page that links lead to. */
async function main(only: string | undefined): Promise<void> {
  await setup();
  const subscriber = await startSubscriber((post, response) =>
    post.path.includes("broken") ? response.writeHead(500).end("upstream is unavailable") : response.end("ok"),
  );
  const browser = await launchBrowser();
  try {
    say("Filling it with data ...");
    const organization = await realisticOrganization(new URL("/", subscriber.url));
    const context = await newProfile(browser, { baseURL: sharedProduct().dashboardUrl });
    const page = await context.newPage();
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const take = async (pages: readonly FoundPage[]) => {
      for (const each of pages.filter(({ name }) => !only || name.includes(only))) {
        say(`  ${each.name}`);
        await takeScreenshots(page, each, folder);
      }
    };
    await take(PUBLIC_PAGES);
    await signIn(page, organization);
    await take(await findPages(page, ["/live/overview", "/test/overview"]));
    await makeOperator(organization);
    await take(await unlinkedPages(organization));
    say(`Screenshots: ${folder}`);
  } finally {
    await globalThis.stopTestProduct?.();
    await globalThis.stopTestServers?.();
  }
}

/** Lets the user see the page for operators of the product. */
function makeOperator({ email }: TestOrganization) {
  return withAccounts(sharedProduct().environment, ({ operatedUsers }) =>
    operatedUsers.setOperator({ actor: "test", requestId: "test" }, { email, isOperator: true }),
  );
}

await main(process.argv[2]);
