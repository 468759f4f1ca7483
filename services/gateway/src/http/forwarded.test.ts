import { expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { captureLogs } from "@vvs/testing";
import { startTestGateway } from "../testing/gateway.ts";

const telemetry = recordTelemetry();

test("forwarded headers are counted, and warned of once, although no proxy is trusted", async () => {
  const { logger, lines } = captureLogs();
  const gateway = await startTestGateway({ logger, trustedProxyHops: 0 });
  for (let call = 0; call < 3; call++) {
    await gateway.send("GET", "/v1/health", { headers: { "X-Forwarded-For": "198.51.100.7" } });
  }
  await gateway.send("GET", "/v1/health");
  expect(lines.filter(({ contradiction }) => contradiction === "none_trusted")).toHaveLength(1);
  const counted = await telemetry.metric("http_forwarded_contradictions");
  expect(counted!.dataPoints).toMatchObject([{ attributes: { contradiction: "none_trusted" }, value: 3 }]);
});
