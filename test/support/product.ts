/** The product that runs for all system tests. */
export interface SharedProduct {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The variables of the run, secrets too. */
  readonly environment: Readonly<Record<string, string>>;
  /** Before the names of its databases and topics. */
  readonly prefix: string;
  /** One log file a service. */
  readonly logDir: string;
  /** One OTLP request a line. */
  readonly spansFile: string;
}

/** The product that the setup started. */
export function sharedProduct(): SharedProduct {
  const text = process.env.VVS_TEST_PRODUCT;
  if (!text) throw new Error("the system tests need the product: run them by the project's jest configuration");
  return JSON.parse(text) as SharedProduct;
}
