import { createHash } from "node:crypto";
import { type PublicHosts, startPublicHosts } from "./public-hosts.ts";
import { createTarball } from "./test-registry.ts";

export const REGISTRY_TOKEN = "token-of-acme";
export const SECRET_CONTENT = "module.exports = 'only for acme';";

/** Starts `npm.acme.example`, a registry that requires a token. It redirects a tarball to another host. */
export function privateRegistry(manifest: Readonly<Record<string, unknown>> = {}): Promise<PublicHosts> {
  const fields = { name: "@acme/tool", version: "1.0.0", main: "index.js", ...manifest };
  const tarball = createTarball({ "package.json": JSON.stringify(fields), "index.js": SECRET_CONTENT });
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: "https://npm.acme.example/@acme/tool/-/tool-1.0.0.tgz", integrity };
  const packument = {
    name: "@acme/tool",
    "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": { ...fields, dist } },
  };
  return startPublicHosts(
    {
      "npm.acme.example/@acme/tool": Buffer.from(JSON.stringify(packument)),
      "npm.acme.example/@acme/tool/-/tool-1.0.0.tgz": { location: "https://files.example/tool.tgz" },
      "files.example/tool.tgz": tarball,
    },
    { "npm.acme.example": REGISTRY_TOKEN },
  );
}
