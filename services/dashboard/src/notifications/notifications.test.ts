import { expect, test } from "@jest/globals";
import { NotificationFrequency, NotificationKind } from "@vvs/proto/account/v1/notifications";
import { dashboardPerTest } from "../testing/dashboard.ts";

const { dashboard, visitor } = dashboardPerTest();

const checked = (text: string) => [...text.matchAll(/value="(\w+)" checked/g)].map(([, value]) => value);

test("the security page leads to the settings, which show what the user gets", async () => {
  dashboard.state.role = "read_only";
  expect((await visitor.get("/live/security")).text).toContain('<a href="/live/notifications">Notifications</a>');
  const { status, text } = await visitor.get("/live/notifications");
  expect([status, checked(text)]).toEqual([200, ["daily", "excluded"]]);
});

test("a user chooses how often and what about", async () => {
  const form = { frequency: "now", kinds: ["changed", "failed", "other"] };
  const { location } = await visitor.post("/live/notifications", form);
  expect(location).toBe("/live/notifications?done=saved");
  const kinds = [NotificationKind.FAILED, NotificationKind.CHANGED];
  expect(dashboard.state.calls).toEqual([
    `setNotificationSettings ${JSON.stringify({ frequency: NotificationFrequency.NOW, kinds })}`,
  ]);
  const { text } = await visitor.get(location!);
  expect(text).toContain("Your settings were saved.");
  expect(checked(text)).toEqual(["now", "failed", "changed"]);
});

test("what a user chose about keys is kept while their role may not manage them", async () => {
  await visitor.post("/live/notifications", { frequency: "now", kinds: ["failed", "keys"] });
  dashboard.state.role = "payables";
  const { text } = await visitor.get("/live/notifications");
  expect(text).not.toContain("A key expires");
  expect(text).toContain('<input type="hidden" name="kinds" value="keys">');
});

test("a form without a frequency changes nothing and says what to do", async () => {
  const { status, text } = await visitor.post("/live/notifications", { kinds: "failed" });
  expect([status, dashboard.state.calls, checked(text)]).toEqual([400, [], ["daily", "excluded"]]);
  expect(text).toContain("Choose how often you want an email.");
});
