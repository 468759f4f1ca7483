// `npm run check:clients`: fetches generators and compiles what they make, so `npm test` leaves it out.
import base from "../../jest.config.mjs";

const system = base.projects.find(({ displayName }) => displayName === "system");

/** @type {import("jest").Config} */
export default {
  ...system,
  rootDir: "../..",
  displayName: "clients",
  testMatch: ["<rootDir>/test/clients/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/"],
  globalSetup: "<rootDir>/test/setup/product.ts",
  globalTeardown: "<rootDir>/test/clients/stop.ts",
};
