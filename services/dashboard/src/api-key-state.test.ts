import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { apiKeyState } from "./api-key-state.ts";

const now = new Date("2026-11-21T09:30:00Z");
const earlier = timestampFromDate(new Date(now.getTime() - 1));
const later = timestampFromDate(new Date(now.getTime() + 1));

test.each([
  [undefined, undefined, "active"],
  [undefined, later, "active"],
  [undefined, timestampFromDate(now), "expired"],
  [undefined, earlier, "expired"],
  [earlier, undefined, "revoked"],
  [earlier, earlier, "revoked"],
])("revoked at %j, expiring at %j: %s", (revokedAt, expiresAt, state) => {
  expect(apiKeyState({ revokedAt, expiresAt }, now)).toBe(state);
});
