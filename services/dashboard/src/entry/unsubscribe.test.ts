import { expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { UNSUBSCRIBE_TOKEN } from "../testing/fake-notifications.ts";

const { dashboard } = dashboardPerTest({ signsIn: false });
const link = `/unsubscribe?token=${UNSUBSCRIBE_TOKEN}`;

test("opening the link changes nothing: it shows a form that does, without signing in", async () => {
  const visitor = dashboard.visitor();
  const { status, text } = await visitor.get(link);
  expect([status, dashboard.state.calls]).toEqual([200, []]);
  const [, action] = /<form method="post" action="([^"]+)">/.exec(text)!;
  expect(action).toBe(link);
  const done = await visitor.post(action!);
  expect([done.status, dashboard.state.calls]).toEqual([200, ["unsubscribe"]]);
  expect(done.text).toContain("<h1>Notification emails are off</h1>");
});

test.each([
  ["a form", "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click"],
  [
    "parts",
    "multipart/form-data; boundary=b",
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
  ],
])(
  "one POST of an email program as %s, from nowhere and without cookies, ends the emails",
  async (_name, type, body) => {
    const headers = { "content-type": type };
    const { status } = await dashboard.visitor().request(link, { method: "POST", headers, body });
    expect([status, dashboard.state.calls]).toEqual([200, ["unsubscribe"]]);
  },
);

test.each(["/unsubscribe", "/unsubscribe?token=usr_1.other", `${link}&token=more`])(
  "%s ends nobody's emails",
  async (path) => {
    const { status, text } = await dashboard.visitor().post(path);
    expect([status, dashboard.state.calls]).toEqual([404, []]);
    expect(text).toContain("<h1>Link does not work</h1>");
  },
);
