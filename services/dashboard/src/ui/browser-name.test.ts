import { expect, test } from "@jest/globals";
import { createWorkMeter } from "@vvs/testing";
import { browserName } from "./browser-name.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36`, "Chrome on Windows"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/140.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0", "Firefox on macOS"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  ["Something (Windows NT 10.0)", "A browser on Windows"],
  ["curl/8.5.0", "An unknown browser"],
  ["", "An unknown browser"],
])("%j is %s", (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});

test("a header that is twice as long takes at most twice the steps", async () => {
  const meter = createWorkMeter();
  const work = (size: number) => meter.count(() => browserName("Version/1 ".repeat(size)));
  const [once, twice] = [await work(200), await work(400)];
  expect(twice).toBeLessThan(2.2 * once);
  meter.close();
});
