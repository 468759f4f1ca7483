/** Tests a running product from outside, independent of its data. */
const [api, dashboard] = process.argv.slice(2);
if (!api || !dashboard) {
  console.error("Usage: smoke API_URL DASHBOARD_URL");
  process.exit(64);
}

const questions = [
  { title: "the API is healthy", url: `${api}/v1/health`, status: 200 },
  { title: "the API refuses calls without a key", url: `${api}/v1/entities/none`, status: 401 },
  { title: "the dashboard shows the sign-in page", url: `${dashboard}/sign-in`, status: 200 },
];

const PATIENCE_MS = 60_000;
const deadline = Date.now() + PATIENCE_MS;
let failed = 0;
for (const { title, url, status } of questions) {
  let last = "";
  do {
    last = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
      (response) => String(response.status),
      (error: Error) => String(error.cause ?? error),
    );
    if (last === String(status)) break;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  } while (Date.now() < deadline);
  const passed = last === String(status);
  if (!passed) failed++;
  console.log(`${passed ? "PASS" : "FAIL"} ${title}${passed ? "" : `: ${last} instead of ${status} from ${url}`}`);
}
process.exit(failed === 0 ? 0 : 1);
