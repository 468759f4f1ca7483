import { describe, expect, test } from "@jest/globals";
import { CheckType } from "@vvs/proto/common/v1/common";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { echoOfMonitor, emptyMonitor, readMonitor } from "./monitor-form.ts";

const right = { ...emptyMonitor, entity_id: ` ${ENTITY_ID} `, webhook_url: " https://acme.example/hook " };

describe("a form that creates a monitor", () => {
  test("makes a request of its trimmed values", () => {
    expect(readMonitor(right)).toEqual({
      request: {
        entityId: ENTITY_ID,
        checks: [CheckType.SAM_REGISTRATION],
        frequency: Frequency.DAILY,
        webhookUrl: "https://acme.example/hook",
        externalId: "",
      },
    });
  });

  test("reports all problems together", () => {
    const wrong = { entity_id: "", checks: ["tin"], frequency: "toString", webhook_url: " ", external_id: "V\n1" };
    const { problems } = readMonitor(wrong) as { problems: object };
    expect(Object.keys(problems)).toEqual(["entity_id", "checks", "frequency", "external_id"]);
  });

  test.each([
    ["https://acme.example/hook?a=1", "https://acme.example/hook?a=1"],
    ["http://127.0.0.1:9000", "http://127.0.0.1:9000"],
    ["https://me:secret@acme.example/", ""],
    ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkw", ""],
    ["12-3456789", ""],
    ["https://acme.example/12-3456789", ""],
    ["javascript:alert(1)", ""],
  ])("with the URL %s shows %j again", (webhook_url, shown) => {
    expect(echoOfMonitor({ ...right, webhook_url }).webhook_url).toBe(shown);
  });
});
