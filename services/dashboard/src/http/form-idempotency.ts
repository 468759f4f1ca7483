import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IdempotencySchema } from "@vvs/proto/common/v1/common";
import type { Visit } from "./session.ts";

/** Returns the idempotency key of a form, so that the service acts on it once, whichever instance passes it on. */
export function formIdempotency(
  { session, view }: Visit,
  form: string,
  submission: string,
): MessageInitShape<typeof IdempotencySchema> {
  return {
    apiKeyId: session.userId,
    path: `${view.path}/${form}`,
    key: submission,
    // Not a hash of the content, which can hold a TIN.
    bodyHash: Buffer.from(submission, "base64url"),
  };
}
