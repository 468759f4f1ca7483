import { expect, test } from "@jest/globals";
import { actorView } from "./actor.ts";

const known = { session: { userId: "usr_1", email: "ada@acme.example" }, keys: [{ id: "key_1", name: "Billing" }] };

test.each([
  ["key_1", "an API key", "Billing"],
  ["key_2", "an API key", ""],
  ["usr_1", "a user", "ada@acme.example"],
  ["usr_2", "a user", ""],
  ["mon_1", "a monitor", ""],
  ["", "unknown", ""],
  ["toString", "unknown", ""],
])("%j is %s, by name %j", (id, kind, name) => {
  expect(actorView(id, known)).toEqual({ id, kind, name });
});
