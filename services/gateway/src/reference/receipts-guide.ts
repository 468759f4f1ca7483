import { html } from "@vvs/http/html";
import { codeBlock } from "./code.ts";

const getSnippet = `curl -sS -o receipt.jwt "$VENDOR_VERIFICATION_BASE_URL/v1/verifications/$VERIFICATION_ID/receipt" \\
  -H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY"
curl -sS -o keys.json "$VENDOR_VERIFICATION_BASE_URL/.well-known/jwks.json"`;

const opensslSnippet = `bytes() { tr '_-' '/+' | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | openssl base64 -d -A; }
KID=$(cut -d. -f1 receipt.jwt | bytes | grep -o '"kid":"[^"]*"')
X=$(tr '}' '\\n' < keys.json | grep -F "$KID" | grep -o '"x":"[^"]*' | cut -d'"' -f4)
{ printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; echo "$X" | bytes; } > key.der
cut -d. -f1,2 receipt.jwt | tr -d '\\n' > signed
cut -d. -f3 receipt.jwt | bytes > signature
openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in signed -sigfile signature
cut -d. -f2 receipt.jwt | bytes`;

const pythonSnippet = `import json
import jwt

receipt = open("receipt.jwt").read()
keys = jwt.PyJWKSet.from_dict(json.load(open("keys.json")))
key = keys[jwt.get_unverified_header(receipt)["kid"]]
print(jwt.decode(receipt, key, algorithms=["EdDSA"]))`;

const joseSnippet = `import { readFileSync } from "node:fs";
import { createLocalJWKSet, jwtVerify } from "jose";

const keys = createLocalJWKSet(JSON.parse(readFileSync("keys.json", "utf8")));
const rules = { algorithms: ["EdDSA"], typ: "verification-receipt+jwt" };
const { payload } = await jwtVerify(readFileSync("receipt.jwt", "utf8"), keys, rules);
console.log(payload);`;

/** How a receipt is checked without this service. */
export const receiptsGuide = html`<p>A <a href="#getReceipt">receipt</a> proves to others what a verification found: the results, the SHA-256 of each evidence, and the files that it rests on, with their dates and SHA-256. It can be read and checked without this service, also when the verification is no longer kept. Keep it together with the <a href="#getReceiptKeys">public keys</a>:</p>
${codeBlock("receipt-get", "Shell", getSnippet)}
<p>Every change of the text makes the signature wrong. Each of these checks it, without a connection, and shows what it says. <code>environment</code> must be <code>live</code>: a receipt of the sandbox proves nothing about a real vendor.</p>
${codeBlock("receipt-check", "Command line", "vendor-verification receipt check receipt.jwt --keys keys.json")}
${codeBlock("receipt-openssl", "Shell, with OpenSSL 3", opensslSnippet, "curl", "go")}
${codeBlock("receipt-python", 'Python, with pip install "pyjwt[crypto]"', pythonSnippet, "python")}
${codeBlock("receipt-jose", "Node.js, with npm install jose", joseSnippet, "typescript")}
<p>Both clients have it too: <code>checkReceipt</code> of the TypeScript client, <code>check_receipt</code> of the Python client. To show that evidence or a file is the one that a receipt names, compute its SHA-256: of <code>content</code> in UTF-8 for <a href="#getEvidence">evidence</a>, and of the file as SAM.gov offers it for download, of the ZIP where it is one.</p>
<p>Take the keys from this service yourself: a receipt that comes with keys of its sender proves nothing.</p>`;
