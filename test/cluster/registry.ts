import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Authority } from "@vvs/egress/testing/certificates";
import { registryDay } from "@vvs/registration";
import { zip } from "@vvs/testing";
import { projectRoot } from "../../deploy/local/services.ts";
import { wantedFiles } from "../../services/entity/src/registry-load/refresh.ts";
import { type PlayedSamGovFiles, playSamGovFiles } from "../outside/sam-gov-files.ts";
import { exclusionsFileName } from "../support/exclusions-file.ts";
import { tlsInFrontOf } from "../support/tls-in-front.ts";

const fixture = (name: string) => readFileSync(join(projectRoot, "test/fixtures/sam", name), "utf8");
const usDate = (date: string) => date.replace(/^(\d+)-(\d+)-(\d+)$/, "$2/$3/$1");

/** Plays SAM.gov on this machine with TLS, under a name by which pods reach it, with an extract and exclusions of today. */
export async function playSecureSamGov(host: string, authority: Authority): Promise<PlayedSamGovFiles> {
  const certificate = authority.issue([`DNS:${host}`]);
  const sam = await playSamGovFiles(async (url) => {
    const port = await tlsInFrontOf(Number(new URL(url).port), { ...certificate, host: "0.0.0.0" });
    return `https://${host}:${port}`;
  });
  publishFiles(sam, new Date());
  return sam;
}

function publishFiles(sam: PlayedSamGovFiles, now: Date): void {
  const today = registryDay(now);
  const month = wantedFiles("registry", undefined, today)[0]!.date;
  const day = `${month.replace("-", "")}01`;
  const monthly = { fileType: "ENTITY", sensitivity: "PUBLIC", frequency: "MONTHLY", charset: "UTF-8" };
  const extract = zip({ "extract.dat": fixture("registry.dat").replaceAll("20260906", day) });
  const usMonth = month.replace(/^(\d+)-(\d+)$/, "$2/$1");
  sam.publish({ ...monthly, date: usMonth, version: "V2" }, `SAM_PUBLIC_UTF-8_MONTHLY_V2_${day}.ZIP`, extract);
  const name = exclusionsFileName(new Date(today));
  const daily = { fileType: "EXCLUSION", date: usDate(today), version: "V2" };
  sam.publish(daily, name.replace(".csv", ".ZIP"), zip({ [name]: fixture("exclusions.csv") }));
}
