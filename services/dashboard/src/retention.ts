/** How long what people see here is kept, as the operations guide lists it; what is not in it is kept for ever. */
export const retention: readonly { readonly what: string; readonly days: number; readonly listed: string }[] = [
  { what: "Usage", days: 400, listed: "usage of keys, by hour" },
  { what: "Audit log", days: 730, listed: "the audit log" },
  { what: "Webhook deliveries", days: 90, listed: "deliveries with their attempts" },
  { what: "Monitor runs", days: 30, listed: "runs of monitors" },
];
