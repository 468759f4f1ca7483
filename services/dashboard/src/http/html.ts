export { type Html, html } from "@vvs/http/html";
