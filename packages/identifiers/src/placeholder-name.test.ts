import { expect, test } from "@jest/globals";
import { isPlaceholderName, placeholderName } from "./placeholder-name.ts";

test.each([
  [{ uei: "ABCDEFGHJK41", tin: "150483782" }, "Unknown entity (UEI ABCDEFGHJK41)"],
  [{ cage: "1ABC2" }, "Unknown entity (CAGE 1ABC2)"],
  [{ tin: "150483782" }, "Unknown entity (TIN ****3782)"],
])("the placeholder for %j is %s, and is known as one", (identifiers, name) => {
  expect(placeholderName(identifiers)).toBe(name);
  expect(isPlaceholderName(name)).toBe(true);
});

test.each(["Unknown entity", "Unknown Entity LLC", "The Unknown entity (UEI ABCDEFGHJK41)"])("%s is a name", (name) => {
  expect(isPlaceholderName(name)).toBe(false);
});
