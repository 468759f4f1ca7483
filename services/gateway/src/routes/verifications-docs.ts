import { z } from "@vvs/config";
import { evidenceSchema, providersSchema, verificationPageSchema, verificationSchema } from "../render/verification.ts";
import {
  exampleEvidence,
  exampleIds,
  exampleProviders,
  exampleReceipt,
  exampleVerification,
  lastPage,
} from "./examples.ts";
import { documented, ok, type RouteDocs } from "./route.ts";

export const mode = {
  description:
    "`realtime` asks the providers now. `cached` returns the newest stored answer to the same question, and asks if there is none, or none within `max_age_seconds`.",
};

export const maxAge = {
  description:
    "Greatest age of the data of a stored answer that `cached` may return, in seconds. An older answer counts as none stored, so the providers are asked. Has no effect with `realtime`, which always asks them.",
};

export const entityFilter = { description: "Only verifications of this entity. Any other text gives an empty list." };

const example = { "A verification": exampleVerification };
const verified = ok(
  "The verification. It is 200 also where every provider failed: the check is then `error`.",
  verificationSchema,
  example,
);

const meaning = `A check asks its providers in turn until one answers. It is \`error\` where none did, or where the vendor lacks an input such as a UEI or a TIN. \`overall_result\` is \`fail\` if any check failed, else \`error\` if any check is \`error\`, else \`pass\`.

A check takes at most 20 s and a call 25 s: set the timeout of your HTTP client to 30 s. Send an \`Idempotency-Key\` so that you can repeat the call safely.`;

export const verify = documented({
  operationId: "verify",
  tag: "Verify",
  summary: "Verify a vendor",
  description: `Verifies a vendor by its identifiers, or an entity by its id.

By identifiers: they are resolved as in a look-up. If an entity carries them it is verified, and identifiers that it lacks are added or remembered. If none does, an entity is created. \`legal_name\` is not a criterion; \`tin_match\` asks with it. A \`tin_match\` is always about the TIN in the call, else about the remembered one; \`details.tin\` and \`details.name\` say what was asked. The newest TIN that matched is remembered, and no TIN that does not match replaces it.

${meaning}`,
  requests: {
    "By identifiers": { identifiers: { uei: "SANDBXACTVE1" }, checks: ["sam_registration"], mode: "realtime" },
    "By identifiers, with a TIN": {
      identifiers: { uei: "SANDBXACTVE1", tin: "12-3456780" },
      legal_name: "Sandbox Active Vendor LLC",
      checks: ["sam_registration", "tin_match"],
      mode: "cached",
    },
    "By entity": { entity_id: exampleIds.entity, checks: ["sam_registration"], mode: "realtime" },
  },
  answers: verified,
  errors: ["entity_not_found", "limit_exceeded", "entity_exists", "ambiguous_match"],
});

export const create = documented({
  operationId: "createVerification",
  tag: "Verify",
  summary: "Verify an entity",
  description: `Verifies an entity by its id.\n\n${meaning}`,
  requests: { "By entity": { entity_id: exampleIds.entity, checks: ["sam_registration"], mode: "realtime" } },
  answers: verified,
  errors: ["entity_not_found"],
});

export const list = documented({
  operationId: "listVerifications",
  tag: "Verify",
  summary: "List verifications",
  description: "Lists the verifications of your organization, newest first, those of monitors included.",
  answers: ok("A page of verifications.", verificationPageSchema, lastPage({ verifications: [exampleVerification] })),
});

export const get = documented({
  operationId: "getVerification",
  tag: "Verify",
  summary: "Get a verification",
  description: "Returns a verification. It never changes.",
  answers: ok("The verification.", verificationSchema, example),
});

/** What a route that returns a receipt answers. */
export const receiptAnswer = {
  answers: {
    200: {
      description: "The receipt.",
      body: z.string().describe("A compact JWS."),
      mediaType: "application/jwt",
      examples: { "A receipt": exampleReceipt },
    },
  },
  errors: ["not_found"],
} satisfies Pick<RouteDocs<string>, "answers" | "errors">;

export const receipt = documented({
  operationId: "getReceipt",
  tag: "Verify",
  summary: "Get a receipt",
  description: `Returns a signed text that proves the results of a verification: a compact JWS (RFC 7515) with the algorithm EdDSA and the type \`verification-receipt+jwt\`. The reference page shows how to check one. It is the same at each call, until the operator signs with another key or evidence is removed.

Its claims are \`iss\`, the address of this service; \`sub\`, the verification’s id; \`iat\`, when it was created; \`environment\`, \`live\` or \`sandbox\`; \`verification\`, as GET returns it; and \`evidence\`: for each result the \`id\`, \`check_type\`, \`sha256\` and \`sources\` of its evidence, as long as that is kept. It is 404 \`not_found\` where the operator has configured no keys.`,
  ...receiptAnswer,
});

export const evidence = documented({
  operationId: "getEvidence",
  tag: "Verify",
  summary: "Get evidence",
  description:
    "Returns what a result rests on: the provider’s answer as received, with secrets and TINs masked, each attempt, and the SHA-256 of the content. It never changes.",
  answers: ok("The evidence.", evidenceSchema, { Evidence: exampleEvidence }),
});

export const providers = documented({
  operationId: "listProviders",
  tag: "Verify",
  summary: "List providers",
  description: "Lists the providers of the key’s environment with their state, in the order in which they are asked.",
  answers: ok("The providers.", providersSchema, { "The sandbox": exampleProviders }),
});
