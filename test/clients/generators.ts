import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../../deploy/local/processes.ts";
import {
  type Cache,
  type Download,
  ensureFetched,
  fetchFromMaven,
  fetchFromPyPi,
} from "../../deploy/local/servers/downloads.ts";

const programs = join(import.meta.dirname, "programs");

type Command = readonly [string, ...string[]];

/** Where a generator works, and with what. */
interface Workplace {
  /** An empty folder. */
  readonly folder: string;
  /** The OpenAPI document. */
  readonly document: string;
  /** The folder of the generator, and that of the libraries of what it makes. */
  readonly tool: string;
  readonly libraries: string;
  readonly cacheDir: string;
}

/** A generator of clients, and the program that makes the calls with its client. */
export interface Generator {
  readonly name: string;
  /** Commands that succeed only if its toolchain is installed. */
  readonly probes: readonly Command[];
  readonly tool: Omit<Download, "needs">;
  readonly libraries?: Omit<Download, "needs">;
  /** Files of the program, and where they go in the folder. */
  readonly program: readonly string[];
  readonly place?: string;
  readonly generate: (at: Workplace) => readonly Command[];
  readonly compile?: (at: Workplace) => readonly Command[];
  readonly run: (at: Workplace) => Command;
  readonly env?: (at: Workplace) => NodeJS.ProcessEnv;
}

const PYTHON: Command = ["python3", "-m", "pip", "--version"];
const GO: Command = ["go", "version"];
const MAVEN: Command = ["mvn", "-v"];
const JAVA: Command = ["javac", "-version"];

const python = {
  program: ["openapi_generator.py"],
  run: () => ["python3", "openapi_generator.py"] as const,
  env: ({ libraries }: Workplace) => ({ PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1" }),
};
const go = {
  place: "clients",
  compile: () => [["go", "build", "-C", "clients", "-mod=mod", "-o", "calls", "."]] as const,
  run: () => ["./clients/calls"] as const,
  env: ({ cacheDir }: Workplace) => ({
    GOMODCACHE: join(cacheDir, "clients-go-modules"),
    GOCACHE: join(cacheDir, "clients-go-build"),
    GOFLAGS: "-modcacherw",
    GOTOOLCHAIN: "local",
  }),
};
const java = {
  program: ["Main.java"],
  compile: ({ libraries }: Workplace) =>
    [
      ["javac", "-encoding", "UTF-8", "-nowarn", "-cp", `${libraries}/libs/*`].concat(
        "-sourcepath",
        "generated/src/main/java",
        "-d",
        "classes",
        "Main.java",
      ) as [string, ...string[]],
    ] as const,
  run: ({ libraries }: Workplace) => ["java", "-cp", `${libraries}/libs/*:classes`, "Main"] as const,
};

const libraryOfPython = pip("clients-python-libraries", [
  "pydantic==2.12.3",
  "python-dateutil==2.9.0",
  "urllib3==2.7.0",
  "typing-extensions==4.16.0",
  "httpx==0.28.1",
  "attrs==25.4.0",
]);

/** The clients of one version of openapi-generator. */
function openApiGenerator(version: string): readonly Generator[] {
  const tool = {
    folder: `openapi-generator-${version}`,
    title: `openapi-generator ${version}`,
    sizeMb: 30,
    fetch: (folder: string) => fetchFromMaven([`org.openapitools:openapi-generator-cli:${version}`], folder),
  };
  const generate =
    (language: string, place: string, ...choice: string[]) =>
    ({ tool: jar, document }: Workplace) =>
      [
        [
          "java",
          "-XX:TieredStopAtLevel=1",
          "-cp",
          `${jar}/libs/*`,
          "org.openapitools.codegen.OpenAPIGenerator",
          "generate",
        ]
          .concat("-i", document, "-g", language, "-o", place, ...choice)
          .concat("--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false") as [
          string,
          ...string[],
        ],
      ] as const;
  // Without the last one, Java sends an empty list for each list that a request leaves out.
  const names = "invokerPackage=vvs,apiPackage=vvs.api,modelPackage=vvs.model,containerDefaultToNull=true";
  return [
    {
      ...{ name: `openapi-generator ${version}, Python`, probes: [PYTHON, JAVA, MAVEN], tool },
      ...{
        libraries: libraryOfPython,
        generate: generate("python", ".", "--additional-properties", "packageName=vvs"),
      },
      ...python,
    },
    {
      ...{ name: `openapi-generator ${version}, Go`, probes: [GO, JAVA, MAVEN], tool },
      program: ["go-openapi-generator/main.go", "go-openapi-generator/go.mod"],
      generate: generate("go", "clients/vvs", "--additional-properties", "packageName=vvs,withGoMod=false"),
      ...go,
    },
    {
      ...{ name: `openapi-generator ${version}, Java`, probes: [JAVA, MAVEN], tool },
      libraries: {
        folder: "clients-java-libraries-jackson-2.21.1",
        title: "Java's Jackson",
        sizeMb: 4,
        fetch: (folder) =>
          fetchFromMaven(
            [
              "com.fasterxml.jackson.core:jackson-databind:2.21.1",
              "com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.21.1",
              "org.openapitools:jackson-databind-nullable:0.2.8",
              "com.google.code.findbugs:jsr305:3.0.2",
              "jakarta.annotation:jakarta.annotation-api:1.3.5",
            ],
            folder,
          ),
      },
      generate: generate("java", "generated", "--library", "native", "--additional-properties", names),
      ...java,
    },
  ];
}

/** The generators whose clients must work. */
export const generators: readonly Generator[] = [
  {
    name: "openapi-python-client 0.29.1",
    probes: [PYTHON],
    tool: pip("openapi-python-client-0.29.1", ["openapi-python-client==0.29.1"]),
    libraries: libraryOfPython,
    ...python,
    program: ["openapi_python_client.py"],
    generate: ({ tool, document }) => [
      ["env", `PYTHONPATH=${tool}`, "python3", "-m", "openapi_python_client", "generate"].concat(
        "--path",
        document,
        "--meta",
        "none",
        "--output-path",
        "vvs",
      ) as [string, ...string[]],
    ],
    run: () => ["python3", "openapi_python_client.py"],
  },
  ...openApiGenerator("7.17.0"),
  ...openApiGenerator("7.25.0"),
  {
    name: "oapi-codegen 2.8.2",
    probes: [GO],
    tool: {
      folder: "oapi-codegen-2.8.2",
      title: "oapi-codegen",
      sizeMb: 30,
      fetch: async (folder) => {
        const env = { GOBIN: folder, GOFLAGS: "-modcacherw" };
        await run(["go", "install", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"], folder, env);
      },
    },
    ...go,
    program: ["oapi-codegen/main.go", "oapi-codegen/go.mod"],
    generate: ({ tool, document }) => [
      ["mkdir", "-p", "clients/vvs"],
      [`${tool}/oapi-codegen`, "-generate", "types,client", "-package", "vvs", "-o", "clients/vvs/vvs.go", document],
    ],
  },
];

function pip(folder: string, requirements: readonly string[]): Omit<Download, "needs"> {
  return {
    ...{ folder, title: requirements[0]!, sizeMb: 10 },
    fetch: (target) => fetchFromPyPi(requirements, target),
  };
}

/** Returns why a generator can't be tried on this machine; undefined if it can. */
export async function whyMissing({ probes }: Generator): Promise<string | undefined> {
  for (const command of probes) {
    if ((await outputOf(command)).code !== 0) return `${command[0]} is not installed`;
  }
  return undefined;
}

/**
 * Makes a client, compiles it and runs the program with it in an empty folder. Returns what the program prints. Errors: a
 * command failed, with its output.
 */
export async function callsOf(
  generator: Generator,
  options: { folder: string; document: string; env: NodeJS.ProcessEnv; cache: Cache },
): Promise<unknown> {
  const { folder, document, cache } = options;
  const tool = await ensureFetched({ ...generator.tool, needs: [] }, cache);
  const libraries = generator.libraries ? await ensureFetched({ ...generator.libraries, needs: [] }, cache) : "";
  const at: Workplace = { folder, document, tool, libraries, cacheDir: cache.cacheDir };
  const place = join(folder, generator.place ?? ".");
  await mkdir(place, { recursive: true });
  const env = { ...generator.env?.(at), ...options.env };
  for (const command of generator.generate(at)) await run(command, folder, env);
  for (const file of generator.program) await copyFile(join(programs, file), join(place, file.split("/").at(-1)!));
  for (const command of generator.compile?.(at) ?? []) await run(command, folder, env);
  return JSON.parse((await run(generator.run(at), folder, env)).split("\n").at(-1)!);
}

async function run(command: Command, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await outputOf(command, { cwd, env });
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output.slice(-4_000)}`);
  return output;
}
