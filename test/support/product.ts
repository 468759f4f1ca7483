/** The sandbox's fast intervals in tests: shorter than by default, since tests wait for runs. */
export const fastClock = { hourlyMs: 2_000, dailyMs: 6_000 };

/** Returns the variables of the fast intervals. */
export const fastClockVariables = () => ({
  SANDBOX_HOURLY_MS: String(fastClock.hourlyMs),
  SANDBOX_DAILY_MS: String(fastClock.dailyMs),
});

/** The product that runs for all system tests. */
export interface SharedProduct {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The variables of the run, secrets too. */
  readonly environment: Readonly<Record<string, string>>;
  /** Prefix of the names of its databases and topics. */
  readonly prefix: string;
  /** Folder with one log file per service. */
  readonly logDir: string;
  /** File with one OTLP request per line. */
  readonly spansFile: string;
}

/** Returns the product that the setup started. */
export function sharedProduct(): SharedProduct {
  const text = process.env.VVS_TEST_PRODUCT;
  if (!text) throw new Error("the system tests need the product: run them with the project's jest configuration");
  return JSON.parse(text) as SharedProduct;
}
