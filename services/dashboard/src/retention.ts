/** How long what people see here is kept, as the operations guide lists it; what is not in it is kept for ever. */
export const retention: readonly { readonly what: string; readonly days: number; readonly listed: string }[] = [
  { what: "Usage, by hour", days: 400, listed: "usage of keys, by hour" },
  { what: "The audit log", days: 730, listed: "the audit log" },
  { what: "Deliveries of webhooks, with their attempts", days: 90, listed: "deliveries with their attempts" },
  { what: "Runs of monitors; what they found is kept for ever", days: 30, listed: "runs of monitors" },
];
