import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { apiKeyState } from "./api-key-pages.ts";

const now = new Date("2026-11-21T09:30:00Z");
const earlier = timestampFromDate(new Date(now.getTime() - 1));
const later = timestampFromDate(new Date(now.getTime() + 1));

test.each([
  [undefined, undefined, undefined, "active"],
  [undefined, later, undefined, "active"],
  [undefined, timestampFromDate(now), undefined, "expired"],
  [undefined, earlier, undefined, "expired"],
  [undefined, later, earlier, "rolled"],
  [undefined, earlier, earlier, "expired"],
  [earlier, undefined, undefined, "revoked"],
  [earlier, earlier, undefined, "revoked"],
  [earlier, later, earlier, "revoked"],
])("revoked at %j, expiring at %j, rolled at %j: %s", (revokedAt, expiresAt, rolledAt, state) => {
  expect(apiKeyState({ revokedAt, expiresAt, rolledAt }, now)).toBe(state);
});
