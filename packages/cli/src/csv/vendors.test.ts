import { expect, test } from "@jest/globals";
import { UsageError } from "../exit-codes.ts";
import { parseVendors } from "./vendors.ts";

const vendorsIn = (text: string) => parseVendors(text, "f.csv").rows.map(({ vendor }) => vendor);

test.each<[string, string, unknown[]]>([
  ["commas", "uei,legal_name\nU1,Acme\n", [{ identifiers: { uei: "U1" }, legal_name: "Acme" }]],
  ["semicolons", "UEI;Legal Name\r\nU1;Acme, Inc\r\n", [{ identifiers: { uei: "U1" }, legal_name: "Acme, Inc" }]],
  ["tabs", "cage\tduns\n1ABC2\t123456789", [{ identifiers: { duns: "123456789", cage: "1ABC2" } }]],
  ["a byte order mark", "\uFEFFuei\nU1\n", [{ identifiers: { uei: "U1" } }]],
  ["quotes and line breaks", 'note,uei\n"a ""b""\nc",U1\n', [{ identifiers: { uei: "U1" } }]],
  ["an entity, which needs nothing else", "entity_id,uei\nent_1,U1\n", [{ entity_id: "ent_1" }]],
  ["spaces around values", " uei ,tin\n U1 , 12-3456789 \n", [{ identifiers: { uei: "U1", tin: "12-3456789" } }]],
  ["short rows and empty lines", "uei,legal_name\n\nU1\n", [{ identifiers: { uei: "U1" } }]],
  [
    "a row without an identifier",
    "uei,legal_name\n,Acme\n",
    [{ problem: "no identifier: fill one of entity_id, uei, tin, duns, cage" }],
  ],
])("reads a file with %s", (_name, text, vendors) => {
  expect(vendorsIn(text)).toEqual(vendors);
});

test.each([
  ["an empty file", "", "is empty"],
  ["no known column", "name,legal_name\nA,B\n", "none of the columns entity_id, uei, tin, duns, cage"],
  ["a column twice", "uei,UEI\nA,B\n", "two columns uei"],
  ["an open quote", 'uei\n"U1\n', "not valid CSV"],
])("refuses %s", (_name, text, message) => {
  expect(() => vendorsIn(text)).toThrow(UsageError);
  expect(() => vendorsIn(text)).toThrow(message);
});
