import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { untilEnd } from "@vvs/testing";
import { MongoClient } from "mongodb";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";

const CAP = 1_000_000;
const LEFT = 25;
const { environment, prefix } = sharedProduct();
const client = untilEnd(new MongoClient(environment.MONGODB_URI!));

const neighbour = await createNeighbour();

test(
  "creations and verifications together create exactly as many live entities as the plan allows",
  async () => {
    const { id, live } = await createOrganization();
    // As an earlier flood leaves it.
    const counter = { _id: id, active: CAP - LEFT, version: 1, recounts: 0 };
    const counts = client.db(`${prefix}entity_live`).collection<typeof counter>("entity_counts");
    await counts.updateOne({ _id: id }, { $set: counter, $currentDate: { changed_at: true } }, { upsert: true });
    const newUei = () => randomUUID().replaceAll("-", "").slice(0, 12).toUpperCase();
    const answers = await neighbour.worksUnder({
      atOnce: 100,
      call: (index) =>
        index % 2 === 0
          ? live.post("/v1/entities", { legal_name: `Attacker ${randomUUID()}` })
          : live.post("/v1/verify", { identifiers: { uei: newUei() }, checks: ["sam_registration"], mode: "cached" }),
    });
    const statuses = answers.map(({ status, body }) => (status < 300 ? "created" : body.error));
    const count = (...outcomes: string[]) => statuses.filter((status) => outcomes.includes(status)).length;
    expect(count("created")).toBeLessThanOrEqual(LEFT);
    // On a busy machine a call may take effect after its deadline.
    expect(count("created", "service_unavailable")).toBeGreaterThanOrEqual(LEFT);
    const others = new Set(statuses.filter((status) => status !== "created"));
    expect(others).toContain("limit_exceeded");
    expect(
      [...others].filter((code) => !["limit_exceeded", "rate_limited", "service_unavailable"].includes(code)),
    ).toEqual([]);
    expect((await live.get("/v1/entities?limit=100")).body.entities).toHaveLength(LEFT);
  },
  ATTACK_TIMEOUT_MS,
);
