import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Router } from "express";

const files = {
  "style.css": "text/css",
  "file.js": "text/javascript",
  "busy.js": "text/javascript",
  "copy.js": "text/javascript",
  "filter.js": "text/javascript",
  "keys.js": "text/javascript",
  "passkeys.js": "text/javascript",
  "refresh.js": "text/javascript",
  "ticks.js": "text/javascript",
  "icon.svg": "image/svg+xml",
} as const;

export type AssetName = keyof typeof files;

/** Returns the path of an asset; it changes with the content. */
export type AssetPath = (name: AssetName) => string;

/** Serves the static files from memory. Browsers may cache them forever, because changed content gets a new path. */
export function createAssets(): { router: Router; pathOf: AssetPath } {
  const router = Router();
  const paths = {} as Record<AssetName, string>;
  for (const [name, type] of Object.entries(files) as [AssetName, string][]) {
    const content = readFileSync(new URL(`../static/${name}`, import.meta.url));
    const version = createHash("sha256").update(content).digest("hex").slice(0, 12);
    paths[name] = `/static/${version}/${name}`;
    router.get(paths[name], (_request, response) => {
      response.set({
        "content-type": `${type}; charset=utf-8`,
        "cache-control": "public, max-age=31536000, immutable",
      });
      response.send(content);
    });
  }
  return { router, pathOf: (name) => paths[name] };
}
