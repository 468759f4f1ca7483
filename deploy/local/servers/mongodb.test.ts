import { expect, test } from "@jest/globals";
import { unrunnableSentence } from "./mongodb.ts";

test.each([
  [127, "mongod: error while loading shared libraries: libcrypto.so.3: cannot open shared object file", "OpenSSL 3"],
  [127, "mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file", "libcurl4"],
  [127, "mongod: error while loading shared libraries: liblzma.so.5: cannot open shared object file", "liblzma.so.5"],
  [null, "", "AVX"],
  [126, "Exec format error", "does not run on this machine"],
])("the error of a mongod that ends with %s (%s) is explained", (code, output, words) => {
  const sentence = unrunnableSentence(code, output);
  expect(sentence).toContain(words);
  expect(sentence).toContain("MONGODB_URI");
});
