import { expect, test } from "@jest/globals";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { fuzz } from "./schemathesis.ts";

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 110);

test(
  "every answer to generated requests, valid and invalid ones, is as the OpenAPI document says",
  async () => {
    const { keys } = await createOrganization();
    const { code, report } = await fuzz({
      baseUrl: sharedProduct().baseUrl,
      key: keys.sandbox,
      seconds: SECONDS,
      cache: { cacheDir: serverCacheDir(process.env), log: console.log },
    });
    console.log(report.slice(report.indexOf("Test Phases:")));
    expect({ code, report: code === 0 ? "" : report }).toEqual({ code: 0, report: "" });
  },
  (SECONDS + 300) * 1_000,
);
