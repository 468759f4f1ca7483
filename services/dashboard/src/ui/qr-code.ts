import encodeQr from "qr";
import { type Html, html } from "../http/html.ts";

/** The light margin around the code that readers need, in modules. */
const MARGIN = 4;

/** Renders a QR code as inline SVG, dark on light in every color scheme. */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQr(text, "raw", { ecc: "medium", border: MARGIN });
  const dark = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  return html`<svg class="qr" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges" role="img" aria-label="${label}"><path fill="#ffffff" d="M0 0h${rows.length}v${rows.length}H0z"/><path fill="#000000" d="${dark.join("")}"/></svg>`;
}
