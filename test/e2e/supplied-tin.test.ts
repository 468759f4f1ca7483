import { expect, test } from "@jest/globals";
import { createOrganization } from "../support/organization.ts";

const PAIRS = 20;
const uei = "SANDBXACTVE1";
/** The sandbox answers by the last digit: 0 passes, 3 is a mismatch. */
const verdicts = { "123451770": "pass", "123451773": "fail" } as const;

test.each(["realtime", "cached"])(
  "concurrent calls that supply different TINs of one vendor each get the verdict on their own TIN (%s)",
  async (mode) => {
    const { sandbox } = await createOrganization();
    const verify = async (body: object) => {
      const checks = { checks: ["tin_match"], mode };
      const { status, body: verification } = await sandbox.post("/v1/verify", { ...body, ...checks });
      expect(status).toBe(200);
      const [result] = verification.results;
      const { body: evidence } = await sandbox.get(result.evidence_uri);
      return { entityId: verification.entity_id, status: result.status, asked: JSON.parse(evidence.content).asked.tin };
    };
    for (let pair = 0; pair < PAIRS; pair++) {
      const answers = await Promise.all(
        Object.keys(verdicts).map((tin) => verify({ identifiers: { uei, tin }, legal_name: "Two Tins Inc" })),
      );
      expect(answers.map(({ status, asked }) => [status, asked])).toEqual([
        ["pass", "****1770"],
        ["fail", "****1773"],
      ]);
      // The stored TIN is one of the two, and an answer about the entity is entirely about that one.
      const { entityId } = answers[0]!;
      const { body: entity } = await sandbox.get(`/v1/entities/${entityId}`);
      const { status, asked } = await verify({ entity_id: entityId });
      expect(asked).toBe(entity.identifiers.tin);
      expect(status).toBe(asked === "****1770" ? "pass" : "fail");
    }
  },
);

test("a call about a vendor gets a verdict on a single TIN while other calls replace the stored one", async () => {
  const { sandbox } = await createOrganization();
  const checks = { checks: ["tin_match"], mode: "realtime" };
  const supply = (tin: string) => sandbox.post("/v1/verify", { identifiers: { uei, tin }, ...checks });
  const { body: first } = await supply("123451770");
  const seen: string[] = [];
  for (let round = 0; round < PAIRS; round++) {
    const [, , about] = await Promise.all([
      ...Object.keys(verdicts).map(supply),
      sandbox.post("/v1/verify", { entity_id: first.entity_id, ...checks }),
    ]);
    const [result] = about!.body.results;
    const { body: evidence } = await sandbox.get(result.evidence_uri);
    seen.push(`${result.status} ${JSON.parse(evidence.content).asked.tin}`);
  }
  expect(["pass ****1770", "fail ****1773"]).toEqual(expect.arrayContaining([...new Set(seen)]));
});
