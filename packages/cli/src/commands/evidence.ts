import { fieldLines } from "../output.ts";
import { oneCall } from "./one-call.ts";

export const evidence = oneCall({
  name: "evidence",
  summary: "Show the evidence of a result: the provider's answer, and who was asked when.",
  operands: ["EVD_ID"],
  help: `
EVD_ID is also the address that \`verify\` prints (evidence_uri). The answer is printed as received, with TINs and secrets masked.

  vendor-verification evidence evd_…`,
  call: (client, { operands }, options) => client.getEvidence(operands[0]!, options),
  text: ({ id, verification_id, check_type, origin, sha256, attempts, sources, created_at, content }) => {
    const fields = fieldLines([
      ["Evidence", id],
      ["Verification", verification_id],
      ["Check", check_type],
      ["Source", origin],
      ["Stored", created_at],
      ["SHA-256", sha256],
      ...attempts.map(({ provider, outcome, reason, started_at, duration_ms }) => {
        const result = [outcome, reason].filter(Boolean).join(", ");
        return ["Asked", `${started_at}  ${provider}  ${result}  ${duration_ms} ms`] as const;
      }),
      ...sources.map(
        ({ part, origin, data_as_of, file, sha256 }) =>
          ["Part", [part, origin, data_as_of, file, sha256].filter(Boolean).join("  ")] as const,
      ),
    ]);
    return content ? `${fields}\n\n${content}` : fields;
  },
});
