import { describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { createOrganization } from "../support/organization.ts";

/** The sandbox objects of one organization, by the prefix of their ids. */

const owner = await createOrganization();
const { sandbox } = owner;
const entity = (await sandbox.post("/v1/entities", { legal_name: "Owned Vendor LLC" })).body.id;
const checks = ["sam_registration"];
const subject = { entity_id: entity, checks };
const verification = (await sandbox.post("/v1/verifications", { ...subject, mode: "realtime" })).body;
const monitor = (await sandbox.post("/v1/monitors", subject)).body.id;
const job = (await sandbox.post("/v1/jobs", { checks, mode: "cached", vendors: [{ entity_id: entity }] })).body.id;
const evidence = verification.results[0].evidence_uri.split("/").at(-1);
const objects: Readonly<Record<string, string>> = {
  ent: entity,
  ver: verification.id,
  evd: evidence,
  mon: monitor,
  job,
};
const strangers = {
  "another organization": (await createOrganization()).sandbox,
  "the other environment": owner.live,
};

const withKey = operations.filter(({ scope }) => scope);
const cases = withKey.flatMap((operation) =>
  (["another organization", "the other environment"] as const).map(
    (stranger) => [stranger, operation.method, operation.path, operation] as const,
  ),
);

describe("the key of", () => {
  test.each(cases)("%s gets nothing of the owner from %s %s", async (stranger, method, path, { id, body, docs }) => {
    const api = strangers[stranger];
    const owned = id && objects[id.prefix];
    if (id && !owned) throw new Error(`Create an object with the prefix ${id.prefix} above, for this operation.`);
    const requests = Object.values(docs.requests ?? {});
    const byEntity = requests.find((request) => "entity_id" in request);
    const sent = body && (byEntity ? { ...byEntity, entity_id: objects.ent } : requests[0]);
    const call = (target: string) => api.request(method, path.replace(":id", target), { body: sent });

    const answer = await call(owned ?? "");
    if (id) {
      expect([answer.status, answer.body.error]).toEqual([404, id.missing]);
      const absent = await call(newId(id.prefix));
      expect({ ...answer.body, request_id: "" }).toEqual({ ...absent.body, request_id: "" });
    } else if (byEntity) {
      expect([answer.status, answer.body.error]).toEqual([404, "entity_not_found"]);
    }
    for (const one of Object.values(objects)) expect(JSON.stringify(answer.body)).not.toContain(one);
  });
});
