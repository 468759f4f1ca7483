import { hash } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Address } from "../matching/addresses/address.ts";
import { nameKeys } from "../matching/names/screening.ts";
import { MATCH_VERSION, matchKeysOf } from "./match-keys.ts";

/** Names and addresses of each kind that matching knows. */
const names = [
  ...[
    "BLUE RIDGE TIMBER, L.L.C.",
    "A & B SERVICES INC",
    "SMITH, JOHN Q",
    "SMITH, JOHN V",
    "JONES LAW, A PROFESSIONAL CORPORATION",
    "CITY OF ASHEVILLE, THE",
    "MC DONALD MFG CO",
  ],
  ...["INTL BROTHERHOOD OF ELEC WRKRS LOCAL 42", "CAFÉ RÍO S.A. DE C.V.", "3 M PRECISION GRINDING GMBH"],
  "O'BRIEN & SONS",
];
const lines = ["12 N OAK ST STE 4", "PO BOX 9", "ONE QUASAR WAY", "US HIGHWAY 70 W", "1234-B 5TH AVENUE NORTHWEST"];

test("changed rules for match keys have a new version, so that stored keys are recomputed", () => {
  const addresses = lines.map((line1): Address => {
    return { type: "physical", line1, city: "ST LOUIS", state: "MO", zip: "63101-1234", country: "USA" };
  });
  const keys = names.map((legal_name) => matchKeysOf({ legal_name, placeholder: false, other_names: [], addresses }));
  const fingerprint = hash("sha256", JSON.stringify([keys, names.map(nameKeys)]), "base64url").slice(0, 12);
  // If the keys differ, raise MATCH_VERSION and set both here.
  expect([MATCH_VERSION, fingerprint]).toEqual([8, "zrpVQ-0IPn5Q"]);
});
