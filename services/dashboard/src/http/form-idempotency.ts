import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Visit } from "./session.ts";

/** Has a service that knows idempotency keys do what a form asks for once, whichever instance sends it on. */
export function formIdempotency(
  { session, view }: Visit,
  form: string,
  submission: string,
): MessageInitShape<typeof IdempotencySchema> {
  return {
    apiKeyId: session.userId,
    path: `${view.path}/${form}`,
    key: submission,
    // Not of its content, which can hold a TIN.
    bodyHash: Buffer.from(submission, "base64url"),
  };
}
