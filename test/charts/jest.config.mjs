// The chart's tests need no servers, so `npm run test:charts` starts none.
/** @type {import("jest").Config} */
export default {
  displayName: "charts",
  rootDir: "../..",
  testEnvironment: "node",
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2024", parser: { syntax: "typescript" } }, module: { type: "es6" } },
    ],
  },
  modulePathIgnorePatterns: ["<rootDir>/.local", "<rootDir>/.cache"],
  testMatch: ["<rootDir>/test/charts/**/*.test.ts"],
};
