// `npm run test:cluster`: takes a cluster and minutes, so `npm test` leaves it out.
import charts from "../charts/jest.config.mjs";

/** @type {import("jest").Config} */
export default {
  ...charts,
  displayName: "cluster",
  testMatch: ["<rootDir>/test/cluster/**/*.test.ts"],
  testTimeout: 600_000,
};
