/** @type {import("jest").Config} */
const shared = {
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2024", parser: { syntax: "typescript" } }, module: { type: "es6" } },
    ],
  },
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/.cache"],
};

/** @type {import("jest").Config} */
export default {
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["<rootDir>/{proto,packages,services,deploy}/**/*.test.ts"],
    },
    {
      ...shared,
      displayName: "system",
      globalSetup: "<rootDir>/test/setup/product.ts",
      globalTeardown: "<rootDir>/test/setup/stop-product.ts",
      testMatch: ["<rootDir>/test/**/*.test.ts"],
      testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/charts/", "<rootDir>/test/cluster/"],
    },
    "<rootDir>/test/charts/jest.config.mjs",
  ],
  globalSetup: "<rootDir>/test/setup/servers.ts",
  globalTeardown: "<rootDir>/test/setup/stop-servers.ts",
  testTimeout: 60_000,
};
