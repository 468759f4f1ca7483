import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { dashboardUrl } = sharedProduct();

/** Signs a user in; returns a function that reads pages. */
async function signedIn({ email, password }: TestOrganization): Promise<(path: string) => Promise<string>> {
  const answer = await fetch(`${dashboardUrl}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email, password }),
  });
  const cookie = answer.headers.getSetCookie().map((one) => one.split(";", 1)[0]);
  return async (path) => (await fetch(`${dashboardUrl}${path}`, { headers: { cookie: cookie.join("; ") } })).text();
}

test("a call appears in its organization's log by its request id, without what the client wrote; others see nothing", async () => {
  const [mine, theirs] = [await createOrganization(), await createOrganization()];
  const { body: entity, headers } = await mine.sandbox.post("/v1/entities", { legal_name: "Logged Pipes LLC" });
  const id = headers.get("x-request-id")!;
  const foreign = await theirs.sandbox.get(`/v1/entities/${entity.id}?limit=1`);
  const unknown = await mine.sandbox.get("/v1/monitors/secret-words");
  await mine.sandbox.get(`/v1/entities/${entity.id}`, { headers: { "x-request-id": "chosen-by-us" } });

  const shown = (requestId: string) => `<code>${requestId}</code>`;
  const read = await signedIn(mine);
  const found = (requestId: string) =>
    eventually(async () => {
      const page = await read(`/test/requests?request_id=${encodeURIComponent(requestId)}`);
      return page.includes(shown(requestId)) && page;
    });
  const created = await found(id);
  expect(created).toContain("POST /v1/entities</code>");
  expect(created).toContain('<span class="state pass">201</span>');
  expect(await found("chosen-by-us")).toContain(`/test/vendors/${entity.id}">${entity.id}</a>`);
  const refused = await found(unknown.body.request_id);
  expect(refused).toContain("GET /v1/monitors/{id}</code>");
  expect(refused).toContain('<span class="state error">404</span> <code>monitor_not_found</code>');

  const all = await read("/test/requests");
  for (const absent of [foreign.body.request_id, "secret-words", "Logged Pipes"]) expect(all).not.toContain(absent);
  for (const path of [`/live/requests?request_id=${id}`, "/live/requests"])
    expect(await read(path)).not.toContain(shown(id));
  const readTheirs = await signedIn(theirs);
  await eventually(async () => (await readTheirs("/test/requests")).includes(shown(foreign.body.request_id)));
  for (const path of ["/test/requests", `/test/requests?request_id=${id}`]) {
    expect(await readTheirs(path)).not.toContain(shown(id));
  }
});
