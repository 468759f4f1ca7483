import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { DELIVERY_ID, deliveryOf, MONITOR_ID } from "../testing/fake-dispatcher.ts";

const { dashboard, visitor } = dashboardPerTest();
const PATH = `/live/webhooks/deliveries/${DELIVERY_ID}`;

beforeEach(() => {
  dashboard.state.deliveries = [deliveryOf()];
});

describe("the list", () => {
  test.each([
    ["pending", "http_status", "retrying"],
    ["pending", "", "pending"],
    ["pending", undefined, "pending"],
    ["failed", "http_status", "failed"],
    ["delivered", "", "delivered"],
  ])("shows one that is %s, whose last attempt has the error %j, as %s", async (status, error, shown) => {
    const attempts = error === undefined ? [] : [{ number: 1, startedAt: deliveryOf().createdAt!, error }];
    dashboard.state.deliveries = [deliveryOf({ status, attempts })];
    for (const path of ["/live/webhooks/deliveries", PATH]) {
      expect((await visitor.get(path)).text).toContain(`<span class="state ${shown}">${shown}</span>`);
    }
  });

  test("says how many deliveries a bulk replay includes", async () => {
    const notice = async (begun: string) => (await visitor.get(`/live/webhooks/deliveries?begun=${begun}`)).text;
    expect(await notice("1204")).toContain("1,204 failed deliveries start again.");
    expect(await notice("%3Cb%3E")).not.toContain("begin again");
  });
});

describe("a delivery", () => {
  test("shows attempts and replays in order of time, and answers of endpoints only as text", async () => {
    const at = (time: string) => timestampFromDate(new Date(`2026-11-21T${time}Z`));
    dashboard.state.deliveries = [
      deliveryOf({
        attempts: [
          {
            number: 1,
            startedAt: at("09:00:00"),
            durationMs: 41n,
            statusCode: 410,
            error: "http_status",
            answerExcerpt: "<b>no",
          },
          { number: 2, startedAt: at("11:00:00"), durationMs: 15_000n, error: "timeout" },
        ],
        replays: [{ at: at("10:00:00"), actor: "usr_1" }],
      }),
    ];
    const { text } = await visitor.get(PATH);
    const parts = [
      "Attempt 1",
      "41 ms",
      "410: the endpoint is gone",
      "&lt;b&gt;no",
      "Replayed by ada@acme.example",
      "Attempt 2",
      "15.0 s",
    ];
    const places = parts.map((part) => text.indexOf(part));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  test("shows what each attempt sent and the organization's own number of the vendor", async () => {
    const body = '{"event":"monitor.change_detected","external_id":"V-<17>"}';
    const headers = [{ name: "webhook-signature", value: "v1,abc=" }];
    const startedAt = timestampFromDate(new Date("2026-11-21T09:00:00Z"));
    const made = { startedAt, durationMs: 1n, statusCode: 200 };
    const attempts = [
      { ...made, number: 1, body, headers: [] },
      { ...made, number: 2, body, headers },
    ];
    dashboard.state.deliveries = [deliveryOf({ attempts, externalId: "V-<17>" })];
    const { text } = await visitor.get(PATH);
    expect(text).toContain("<code>V-&lt;17&gt;</code>");
    expect(text).toContain("&quot;external_id&quot;: &quot;V-&lt;17&gt;&quot;\n}</code>");
    expect(text).toContain("<code>webhook-signature: v1,abc=</code>");
    expect(text.match(/The headers of this attempt were not kept\./g)).toHaveLength(1);
  });

  test.each(["X-Service-Signature", "webhook-signature", "webhook-id", "webhook-timestamp", "X-Delivery-Attempt"])(
    "names the header %s that subscribers get",
    async (name) => {
      expect((await visitor.get(PATH)).text).toContain(`<code>${name}</code>`);
    },
  );

  test("of a test event says so, and links to nothing made up", async () => {
    dashboard.state.deliveries = [deliveryOf({ test: true })];
    const { text } = await visitor.get(PATH);
    expect(text).toContain("X-Delivery-Test: true");
    expect(text).not.toContain(MONITOR_ID);
    expect(text).not.toContain("/verifications/ver_");
  });

  test("with an attempt in progress is not replayed, and the page says so", async () => {
    dashboard.state.deliveries = [deliveryOf({ status: "pending", underWay: true })];
    const form = { form_token: await visitor.formToken(PATH) };
    const { location } = await visitor.post(`${PATH}/replay`, form);
    expect((await visitor.get(location!)).text).toContain("The delivery was not replayed");
  });
});
