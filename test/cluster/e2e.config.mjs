// The end-to-end tests of what replicas, real stores and a network between them could break. test/cluster/end-to-end.ts runs them.
import charts from "../charts/jest.config.mjs";

const NAMES = "authentication,idempotency,monitors,webhooks";

/** @type {import("jest").Config} */
export default {
  ...charts,
  displayName: "e2e on the cluster",
  testMatch: [`<rootDir>/test/e2e/{${NAMES}}.test.ts`],
  testTimeout: 120_000,
  // They mostly wait, and two at a time are enough for a small node.
  maxWorkers: 2,
};
