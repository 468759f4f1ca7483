import { outputOf } from "../processes.ts";
import { StartError } from "./start-error.ts";

type Tool = {
  name: string;
  probe: [string, ...string[]];
  accepts: (output: string) => boolean;
  apt: string;
  brew: string;
};

const tools = {
  python: {
    name: "Python 3 with pip",
    probe: ["python3", "-m", "pip", "--version"],
    accepts: () => true,
    apt: "python3-pip",
    brew: "python",
  },
  java: {
    name: "Java 17 or newer",
    probe: ["java", "-version"],
    accepts: (output) => javaMajor(output) >= 17,
    apt: "openjdk-17-jre-headless",
    brew: "openjdk@17",
  },
  maven: { name: "Maven", probe: ["mvn", "-v"], accepts: () => true, apt: "maven", brew: "maven" },
  redis: {
    name: "Redis",
    probe: ["redis-server", "--version"],
    accepts: () => true,
    apt: "redis-server",
    brew: "redis",
  },
} satisfies Record<string, Tool>;

export type Prerequisite = keyof typeof tools;

/** Returns the major version in the output of `java -version`: 17 for `"17.0.15"`, 8 for the old form `"1.8.0_402"`, else 0. */
export function javaMajor(output: string): number {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match ? Number(match[1]) : 0;
}

/** Returns a sentence with the missing tools and the command that installs them. */
export function missingSentence(missing: Prerequisite[], platform: NodeJS.Platform): string {
  const wanted = missing.map((key) => tools[key]);
  const names = new Intl.ListFormat("en").format(wanted.map((tool) => tool.name));
  const install =
    platform === "darwin"
      ? `brew install ${wanted.map((tool) => tool.brew).join(" ")}`
      : `sudo apt-get install -y ${wanted.map((tool) => tool.apt).join(" ")}`;
  const own = "or set MONGODB_URI, KAFKA_BROKERS and REDIS_URL to your own servers";
  return `The local servers need ${names}, which this machine lacks. Run: ${install} (${own})`;
}

/** Checks that this machine has all tools in `needed`. Errors: StartError with every missing tool. */
export async function requirePrerequisites(needed: Prerequisite[]): Promise<void> {
  const wanted = [...new Set(needed)];
  const present = await Promise.all(wanted.map(isPresent));
  const missing = wanted.filter((_, index) => !present[index]);
  if (missing.length > 0) throw new StartError(missingSentence(missing, process.platform));
}

async function isPresent(key: Prerequisite): Promise<boolean> {
  const tool: Tool = tools[key];
  const { code, output } = await outputOf(tool.probe);
  return code === 0 && tool.accepts(output);
}
