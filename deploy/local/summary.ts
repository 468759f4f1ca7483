import type { Demo } from "./demo.ts";

/** Returns the text printed when a run is ready: addresses, keys, a first call. `folder` has the run's files. */
export function summary(demo: Demo, folder: string): string {
  const [first] = demo.organizations;
  const organizations = demo.organizations
    .map(
      (organization) => `  ${organization.name} (${organization.plan})
    dashboard   ${organization.email} / ${organization.password}
    live key    ${organization.live_key}
    test key    ${organization.test_key}`,
    )
    .join("\n");
  return `
The Vendor Verification Service is ready.

  API         ${demo.base_url}
  Dashboard   ${demo.dashboard_url}
  Mailbox     ${demo.dashboard_url}/mailbox (emails that this run would send)
  MongoDB     ${demo.mongodb_uri}
  Kafka       ${demo.kafka_brokers}
  Redis       ${demo.redis_url}

${organizations}

All of this is also in ${folder}/demo.json, and logs are in ${folder}/log. Webhooks can be sent to private addresses in this run.

Try it:

  curl -s ${demo.base_url}/v1/verify \\
    -H 'Authorization: Bearer ${first!.test_key}' -H 'Content-Type: application/json' \\
    -d '{"identifiers": {"uei": "SANDBXACTVE1"}, "checks": ["sam_registration"], "mode": "realtime"}'
`;
}
