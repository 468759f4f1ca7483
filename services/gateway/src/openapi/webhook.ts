import { z } from "@vvs/config";
import { changeSchema, eventSchema } from "../render/monitor.ts";
import { text, time } from "../render/schemas.ts";
import { exampleIds, exampleWebhook } from "../routes/examples.ts";
import { type Components, jsonSchema } from "./json-schema.ts";

const value = (description: string) => z.string().nullable().describe(description);

/** The event as it is in the history, with null where a value is absent, and what belongs to an attempt. */
const event = eventSchema
  .omit({ id: true, detected_at: true })
  .extend({
    external_id: text(
      "Your number of the monitor, or else of the entity; absent where there is none. The same on every attempt.",
    ).optional(),
    changes: z
      .array(
        changeSchema.extend({
          previous: value("null where there was no value."),
          current: value("null where there is no value."),
        }),
      )
      .min(1),
    delivered_at: time("When this attempt was made."),
    test: z
      .literal(true)
      .optional()
      .describe("On a test event from the dashboard, whose changes are made up; absent otherwise."),
  })
  .meta({ id: "MonitorChangeDetected", description: "The body of a webhook." });

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: "header",
  ...(required && { required }),
  description,
  schema: { type: "string" },
  example,
});

const RETRIED = { description: "We retry for 24 h. With `Retry-After` on 429 or 503 not before that time, up to 1 h." };

/** Returns the webhooks that a subscriber receives. */
export function webhooks(components: Components): object {
  return {
    "monitor.change_detected": {
      post: {
        operationId: "receiveMonitorChange",
        tags: ["Receive webhooks"],
        summary: "A monitor detected changes",
        description:
          "We post this to the monitor’s `webhook_url`. Verify one of both signatures over the bytes that you received before you parse them, and refuse a timestamp that is more than 5 minutes old. Each attempt is signed afresh. Delivery is at least once: remember `webhook-id`.",
        security: [],
        parameters: [
          header(
            "X-Service-Signature",
            "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 with the whole secret as key over `<t>.<body>`. During a rotation of the secret a second `,v1=<hex>` follows.",
            "t=1795246939,v1=c2b3bb873e4866c18fc64d361edf007a54f463470b0fe0589061ab080e8faec3",
          ),
          header("webhook-id", "Id of the event, the same on every attempt.", exampleIds.event),
          header("Idempotency-Key", "The same as `webhook-id`.", exampleIds.event),
          header("webhook-timestamp", "When this attempt was signed, in Unix seconds.", "1795246939"),
          header(
            "webhook-signature",
            "Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 with the decoded secret as key over `<webhook-id>.<webhook-timestamp>.<body>`. During a rotation two values, separated by a space.",
            "v1,Zj9SeWRYnypEIsLnbXJ/px+lS/WIkptRGVRX4VIGUuU=",
          ),
          header("X-Delivery-Attempt", "Number of this attempt: 1, 2, …", "1"),
          header("X-Delivery-Test", "`true` on a test event from the dashboard; absent otherwise.", "true", false),
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: jsonSchema(event, components),
              examples: { changed: { summary: "A registration expired", value: exampleWebhook } },
            },
          },
        },
        responses: {
          "2XX": { description: "The event is delivered. Answer within 15 s." },
          "4XX": RETRIED,
          default: RETRIED,
        },
      },
    },
  };
}
