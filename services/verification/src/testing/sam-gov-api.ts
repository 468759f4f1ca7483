import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { beforeEach } from "@jest/globals";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import type { Parts } from "@vvs/registration";
import { silentLogger, untilEnd } from "@vvs/testing";
import { type PlayedSamGov, playSamGov } from "../../../../test/outside/sam-gov.ts";
import { createProviderHttp, type ProviderHttp } from "../providers/http/provider-http.ts";
import type { Answer, MonitorRun, Provider } from "../providers/provider.ts";
import { createSamGovClient, type SamGovClient } from "../providers/sam-gov/client.ts";
import type { RegistryReader } from "../providers/sam-gov/registry-reader.ts";
import { createSamGovApi } from "../providers/sam-gov/sam-gov-api.ts";
import { createSamGovExtract } from "../providers/sam-gov/sam-gov-extract.ts";
import { questionOf } from "./calls.ts";

/** The loaded files' records, the same for every vendor. */
export type Files = MessageInitShape<typeof RegistryAnswerSchema>;

/** Returns the files' records by the names and identifiers that are asked for. */
export type FilesBy = (names: readonly string[], identifiers: { uei: string; cage: string }) => Files;

export interface PlayedProvider {
  readonly http: ProviderHttp;
  readonly sam: { readonly baseUrl: string; readonly apiKey: string };
  readonly now: Date;
  readonly entityVersion?: "v3" | "v4";
  /** Those of all vendors, or by what is asked for. Where absent, the entity service is unavailable. */
  readonly files?: Files | FilesBy | undefined;
}

/** The vendor that questions are about where they name none. */
export const UEI = "PLAYEDUEI001";

/** Simulates SAM.gov for the tests of a file, at this time. Each test begins with a new simulation. */
export function samGovForEachTest(now: Date) {
  const http = untilEnd(createProviderHttp());
  let current: PlayedSamGov;
  beforeEach(async () => {
    current = await playSamGov();
  });
  const sam = new Proxy({} as PlayedSamGov, { get: (_target, name) => Reflect.get(current, name) });
  const provider = (options: Pick<PlayedProvider, "files" | "entityVersion"> = {}) =>
    playedProvider({ http, sam, now, ...options });
  return {
    http,
    sam,
    /** The provider of SAM.gov's APIs. */
    provider,
    /** Asks SAM.gov's APIs, beside these files. */
    ask: (files?: PlayedProvider["files"], asking?: TestQuestion) => askAbout(provider({ files }), asking),
    /** Asks the loaded files, beside a stored answer. */
    askFiles: (files: Files | FilesBy, stored?: Parts, { hasApi, ...more }: TestQuestion & { hasApi?: boolean } = {}) =>
      askAbout(playedExtract({ files, now, hasApi }), { stored, ...more }),
  };
}

/** Returns the outcome of an answer, with its reason. */
export const verdictIn = ({ outcome, reason }: Pick<Answer, "outcome" | "reason">) => `${outcome} ${reason}`.trim();

/** Returns the outcome of an answer, with its reason, and what it says of the registration and of exclusions. */
export const stateIn = ({ outcome, reason, facts }: Pick<Answer, "outcome" | "reason" | "facts">) =>
  [outcome, reason, facts.registration_status, facts.exclusion_effect].filter(Boolean).join(" ");

/** Creates a client of a simulated SAM.gov. */
export function playedClient({ http, sam, now, entityVersion = "v3" }: Omit<PlayedProvider, "files">): SamGovClient {
  return createSamGovClient({
    http,
    baseUrl: sam.baseUrl,
    entityVersion,
    apiKey: sam.apiKey,
    now: () => now,
    logger: silentLogger,
  });
}

/** Creates the provider of SAM.gov's APIs, which asks a simulated SAM.gov. */
function playedProvider({ files, ...played }: PlayedProvider): Provider {
  const client = playedClient(played);
  return createSamGovApi({ clientOf: () => client, entities: entitiesWith(files), now: () => played.now });
}

/** Creates the provider of the loaded files. */
export function playedExtract(played: { files: Files | FilesBy; now: Date; hasApi?: boolean | undefined }): Provider {
  const { files, now, hasApi = false } = played;
  return createSamGovExtract({ entities: entitiesWith(files), hasApi, now: () => now });
}

const entitiesWith = (files: Files | FilesBy | undefined): RegistryReader => ({
  async getRegistryRecord({ names = [], uei = "", cage = "" }) {
    if (!files) throw new Error("the entity service is down");
    return create(RegistryAnswerSchema, typeof files === "function" ? files(names, { uei, cage }) : files);
  },
});

export interface TestQuestion {
  readonly uei?: string;
  readonly cage?: string;
  readonly legalName?: string;
  readonly organizationId?: string;
  readonly run?: MonitorRun;
  readonly timeoutMs?: number;
  readonly stored?: Parts | undefined;
}

/** Asks a provider about a vendor. */
export function askAbout(provider: Provider, asking: TestQuestion = {}): Promise<Answer> {
  const { uei = UEI, cage = "", legalName = "", organizationId = "org_1", run, timeoutMs = 20_000, stored } = asking;
  const tenant = { organizationId, environment: "live" as const };
  const question = questionOf({ tenant, uei, cage, legalName, run, stored });
  return provider.ask(question, { signal: AbortSignal.timeout(timeoutMs) });
}
