import { readdir, readFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { temporaryFolder, zip } from "@vvs/testing";
import { type PlayedSamGovFiles, playSamGovFiles } from "../../../../../test/outside/sam-gov-files.ts";
import { extractRowText, extractText } from "../testing/registry-files.ts";
import { type DownloadOptions, downloadFile, type WantedFile } from "./download.ts";
import { validateExtract } from "./extract.ts";

const month: WantedFile = { kind: "registry", date: "2026-09" };
const monthQuery = {
  ...{ fileType: "ENTITY", sensitivity: "PUBLIC", frequency: "MONTHLY", charset: "UTF-8" },
  ...{ date: "09/2026", version: "V2" },
};
const monthName = "SAM_PUBLIC_UTF-8_MONTHLY_V2_20260906.ZIP";
const archive = zip({ "SAM_PUBLIC_UTF-8_MONTHLY_V2_20260906.dat": extractText([extractRowText({})]) });

let sam: PlayedSamGovFiles;
beforeEach(async () => {
  sam = await playSamGovFiles();
  sam.publish(monthQuery, monthName, archive);
});

const download = (directory: string, options: Partial<DownloadOptions> = {}) =>
  downloadFile({ baseUrl: sam.baseUrl, apiKey: sam.apiKey, wanted: month, directory, ...options });

describe("a registry file of SAM.gov", () => {
  test("is downloaded by its month, with SAM.gov's file name, ready to be loaded", async () => {
    const directory = temporaryFolder();
    const reports: [number, number | undefined][] = [];
    const path = await downloadFile({
      ...{ baseUrl: sam.baseUrl, apiKey: sam.apiKey, wanted: month, directory },
      onBytes: (done, total) => reports.push([done, total]),
    });
    expect(path).toBe(`${directory}/${monthName}`);
    expect(await readFile(path)).toEqual(archive);
    expect(await validateExtract(path)).toMatchObject({ rows: 1, cutDate: "2026-09-06" });
    expect(reports.at(-1)).toEqual([archive.length, archive.length]);
    expect(await readdir(directory)).toEqual([monthName]);
  });

  test("of exclusions is downloaded by its day", async () => {
    const directory = temporaryFolder();
    const query = { fileType: "EXCLUSION", date: "09/14/2026", version: "V2" };
    const name = "SAM_Exclusions_Public_Extract_V2_26257.ZIP";
    sam.publish(query, name, zip({ "SAM_Exclusions_Public_Extract_V2_26257.CSV": "a,b\n" }));
    const path = await download(directory, { wanted: { kind: "exclusions", date: "2026-09-14" } });
    expect(path).toBe(`${directory}/${name}`);
  });

  test("is requested with the key in a header, which is not sent to the target of a redirect", async () => {
    const directory = temporaryFolder();
    await download(directory);
    expect(sam.apiCalls.map(({ headers }) => headers["x-api-key"])).toEqual([sam.apiKey]);
    expect(sam.storageCalls).toHaveLength(1);
    expect(JSON.stringify([sam.apiCalls[0]!.url, sam.storageCalls])).not.toContain(sam.apiKey);
  });
});

describe("a failed download leaves nothing behind and gives the reason", () => {
  const refused = async (options: Parameters<typeof download>[1] = {}) => {
    const directory = temporaryFolder();
    const error = await download(directory, options).then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    expect(await readdir(directory)).toEqual([]);
    expect(error).toHaveProperty("name", "RegistryFileError");
    expect(error!.message).not.toMatch(/played-key|Signature/);
    return error!.message;
  };

  test("when SAM.gov has no such file", async () => {
    expect(await refused({ wanted: { kind: "registry", date: "2026-10" } })).toMatch(/has no such file \(yet\)/);
  });

  test.each([
    [401, /refuses the key \(401\): keys are valid for 90 days/],
    [403, /refuses the key \(403\)/],
    [429, /used up its calls of today/],
    [500, /answered 500 instead of a file/],
  ])("when SAM.gov answers %i", async (status, message) => {
    sam.refuse(status);
    expect(await refused()).toMatch(message);
  });

  test("when the file is too large", async () => {
    expect(await refused({ maxBytes: 100 })).toMatch(/larger than 100 bytes/);
  });

  test("when the key is wrong", async () => {
    expect(await refused({ apiKey: "not-the-played-key" })).toMatch(/refuses the key/);
  });

  test.each([
    ["cut", /broke off/],
    ["silent", /stopped sending/],
    ["no_archive", /not a whole ZIP archive/],
    ["short", /not a whole ZIP archive/],
  ] as const)("when the answer is %s", async (how, message) => {
    sam.misbehave(how);
    expect(await refused(how === "silent" ? { silenceMs: 300 } : {})).toMatch(message);
  });
});
