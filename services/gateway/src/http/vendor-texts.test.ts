import { expect, test } from "@jest/globals";
import { cutVendors, MAX_VENDORS } from "./vendor-texts.ts";

async function cut(text: string) {
  const { envelope, vendors } = await cutVendors(Buffer.from(text));
  const texts = vendors && Array.from({ length: vendors.count }, (_, index) => vendors.at(index).toString().trim());
  return [envelope.toString(), texts];
}

test.each([
  [
    '{"mode":"cached","vendors":[{"a":1},{"b":[2,3]}],"checks":[]}',
    '{"mode":"cached","vendors":[],"checks":[]}',
    ['{"a":1}', '{"b":[2,3]}'],
  ],
  ['{"vendors" : [ 1 , "a,]}\\"" ] }', '{"vendors" : [] }', ["1", '"a,]}\\""']],
  ['{"vendors":[]}', '{"vendors":[]}', []],
  ['{"vendors":[ ]}', '{"vendors":[]}', []],
  ['{"vendors":[1,]}', '{"vendors":[]}', ["1", ""]],
  ['{"vendors":[,]}', '{"vendors":[]}', ["", ""]],
  ['{"x":"vendors","vendors":[1]}', '{"x":"vendors","vendors":[]}', ["1"]],
  ['{"x":{"vendors":[1]},"vendors":[2]}', '{"x":{"vendors":[1]},"vendors":[]}', ["2"]],
  ['{"vendors":[1],"vendors":[2]}', '{"vendors":[],"vendors":[2]}', ["1"]],
  ['{"\\u0076endors":[1]}', '{"\\u0076endors":[]}', ["1"]],
])("the entries of %s are cut out", async (text, envelope, texts) => {
  expect(await cut(text)).toEqual([envelope, texts]);
});

test.each([
  ['{"vendors":[1],"vendors":[1]}', true],
  ['{"vendors":[1], "\\u0076endors" :1}', true],
  ['{"vendors":null,"vendors":[1]}', true],
  ['{"vendors":[{"vendors":[1]}],"x":"vendors","y":{"vendors":1}}', false],
])("whether the array of %s is given more than once is %s", async (text, isRepeated) => {
  expect((await cutVendors(Buffer.from(text))).isRepeated).toBe(isRepeated);
});

test.each(['{"vendors":"[1]"}', '{"vendors":{"a":[1]}}', "[1]", '{"vendors":[1', '"vendors"', ""])(
  "%s has no array of vendors, and stays as it is",
  async (text) => {
    expect(await cut(text)).toEqual([text, undefined]);
  },
);

test("texts of any bytes are cut as they are, also across slices", async () => {
  const entry = `{"legal_name":"Müller & Söhne ${"x".repeat(700)}"}`;
  const text = `{"vendors":[${Array.from({ length: 1_000 }, () => entry).join(",")}]}`;
  const [envelope, texts] = await cut(text);
  expect(envelope).toBe('{"vendors":[]}');
  expect(new Set(texts)).toEqual(new Set([entry]));
  expect(texts).toHaveLength(1_000);
});

test("of more entries than a job may have, only one more is kept", async () => {
  const { envelope, vendors } = await cutVendors(Buffer.from(`{"vendors":[${",".repeat(2 * MAX_VENDORS)}1]}`));
  expect([envelope.toString(), vendors!.count]).toEqual(['{"vendors":[]}', MAX_VENDORS + 1]);
});

test.each(["", " "])("others have their turn after %j too, where slices end within an escape", async (start) => {
  let turns = 0;
  let isCut = false;
  const turn = () => {
    turns++;
    if (!isCut) setImmediate(turn);
  };
  turn();
  await cutVendors(Buffer.from(`${start}{"vendors":["${"\\\\".repeat(500_000)}"]}`));
  isCut = true;
  expect(turns).toBeGreaterThan(3);
});
