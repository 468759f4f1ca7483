// `npm run test:cluster`: needs a cluster and takes minutes, so `npm test` leaves it out.
import charts from "../charts/jest.config.mjs";

/** @type {import("jest").Config} */
export default {
  ...charts,
  displayName: "cluster",
  testMatch: ["<rootDir>/test/cluster/**/*.test.ts"],
  testTimeout: 600_000,
};
