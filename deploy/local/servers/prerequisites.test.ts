import { expect, test } from "@jest/globals";
import { javaMajor, missingSentence } from "./prerequisites.ts";

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_402"', 8],
  ['openjdk version "21" 2023-09-19', 21],
  ["The operation couldn't be completed. Unable to locate a Java Runtime.", 0],
])("%s is Java %i", (output, major) => {
  expect(javaMajor(output)).toBe(major);
});

test("the message lists all missing tools and one command that installs them", () => {
  const sentence = missingSentence(["python", "java", "maven"], "linux");
  expect(sentence).toContain("Python 3 with pip, Java 17 or newer, and Maven");
  expect(sentence).toContain("sudo apt-get install -y python3-pip openjdk-17-jre-headless maven");
  expect(missingSentence(["java"], "darwin")).toContain("brew install openjdk@17");
});
