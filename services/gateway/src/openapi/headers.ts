import type { HeaderName } from "./operations.ts";

const whole = (description: string, minimum = 0) => ({ description, schema: { type: "integer", minimum } });
const text = (description: string, more: object = {}) => ({ description, schema: { type: "string", ...more } });

/** Every header of an answer, as the document describes it. */
export const headers: Readonly<Record<HeaderName, object>> = {
  "X-Request-Id": text(
    "Id of the request: the one that you sent as `X-Request-Id` if it has 1 to 128 printable ASCII characters, otherwise a new one.",
  ),
  "RateLimit-Policy": text("The limit of the key: `q` requests in any `w` seconds.", {
    examples: ['"default";q=100;w=60'],
  }),
  RateLimit: text("What is left: `r` requests now; in `t` seconds there are more.", {
    examples: ['"default";r=99;t=1'],
  }),
  "X-RateLimit-Limit": whole("Requests per minute of the key."),
  "X-RateLimit-Remaining": whole("Requests left now."),
  "X-RateLimit-Reset": whole("Seconds until there is quota again."),
  "Retry-After": whole("Seconds to wait before the call is repeated.", 1),
  "WWW-Authenticate": text("`Bearer`."),
  Location: text("Path of the created object.", { examples: ["/v1/entities/ent_01m7yps8kqf59an8zca6rhtk3v"] }),
  "Idempotency-Replayed": text("`true` where an earlier answer to the same `Idempotency-Key` is repeated.", {
    const: "true",
  }),
  Allow: text("The methods of the path.", { examples: ["GET, HEAD"] }),
  ETag: text("Version of the document."),
};
