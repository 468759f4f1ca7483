import type { Product } from "../../../deploy/local/product.ts";
import type { TestOrganization } from "../../support/organization.ts";

/** Lists that are opened: those in which an organization with few vendors has a whole page too. */
export const pagePaths = ["/live/vendors", "/live/vendors?sort=checked", "/live/vendors?sort=expiry"];

/** Signs in as the organization's user; returns a function that requests a page of the dashboard. */
export async function signInto(
  { dashboardUrl }: Pick<Product, "dashboardUrl">,
  { email, password }: Pick<TestOrganization, "email" | "password">,
): Promise<(path: string) => Promise<Response>> {
  const signedIn = await fetch(`${dashboardUrl}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email, password }),
  });
  await signedIn.arrayBuffer();
  if (signedIn.status !== 303) throw new Error(`signing in answered ${signedIn.status}`);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(";", 1)[0])
    .join("; ");
  return async (path) => {
    const response = await fetch(`${dashboardUrl}${path}`, { redirect: "manual", headers: { cookie } });
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return response;
  };
}

/** Signs in, and returns a function that opens a page, and expects vendors on it. */
export async function openPages(product: Product, organization: TestOrganization) {
  const open = await signInto(product, organization);
  return async (path: string) => {
    const text = await (await open(path)).text();
    if (!text.includes("/live/vendors/ent_")) throw new Error(`${path} shows no vendors`);
  };
}
