/** How long data shown in the dashboard is kept, in days. `listed` is its name in the operations guide. Other data is kept forever. */
export const retention: readonly { readonly what: string; readonly days: number; readonly listed: string }[] = [
  { what: "Usage", days: 400, listed: "usage of keys, by hour" },
  { what: "The list of requests", days: 7, listed: "the request log" },
  { what: "Audit log", days: 2_557, listed: "the audit log" },
  { what: "Webhook deliveries", days: 90, listed: "deliveries with their attempts" },
  { what: "Webhook deliveries in the test environment", days: 14, listed: "the sandbox's deliveries" },
  { what: "Changes found by monitors in the test environment", days: 14, listed: "events of sandbox monitors" },
  { what: "Changes found by live monitors", days: 2_557, listed: "events of live monitors" },
  { what: "Monitor runs", days: 400, listed: "runs of monitors" },
  {
    what: "Verifications with fresh answers, and those that failed, with evidence",
    days: 2_557,
    listed: "verifications that a `realtime` call asked for",
  },
  { what: "Other verifications with evidence, such as of stored answers", days: 400, listed: "other verifications" },
  {
    what: "Verifications made by monitors in the test environment",
    days: 14,
    listed: "verifications of the sandbox's runs",
  },
];
