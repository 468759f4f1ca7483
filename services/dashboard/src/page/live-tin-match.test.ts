import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";

const { dashboard, visitor } = dashboardPerTest();

const NOT_ENABLED = "not enabled for your organization";
const CONTACT = "contact the operator of this service";
const form = "verifications/new";

describe(`the form ${form}`, () => {
  test("says in live that tin_match is not enabled, and whom to ask", async () => {
    dashboard.state.liveTinMatch = false;
    const { text } = await visitor.get(`/live/${form}`);
    expect(text).toContain(NOT_ENABLED);
    expect(text).toContain(CONTACT);
    expect((await visitor.get(`/test/${form}`)).text).not.toContain(NOT_ENABLED);
  });

  test("says nothing where it is enabled", async () => {
    expect((await visitor.get(`/live/${form}`)).text).not.toContain(NOT_ENABLED);
  });

  test("is shown while account can't say", async () => {
    dashboard.fail("getOrganization", "service_unavailable");
    const { status, text } = await visitor.get(`/live/${form}`);
    expect(status).toBe(200);
    expect(text).not.toContain(NOT_ENABLED);
  });
});

describe("the plan page", () => {
  test.each([
    [false, "Live TIN matching</dt><dd>not enabled"],
    [true, "Live TIN matching</dt><dd>enabled"],
  ])("says whether live TIN matching is enabled: %s", async (liveTinMatch, shown) => {
    dashboard.state.liveTinMatch = liveTinMatch;
    expect((await visitor.get("/live/organization")).text).toContain(shown);
  });
});
