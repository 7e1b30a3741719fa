import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type GivenEntry, tarOf, tarOfFiles } from "../archives.ts";

const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

interface GivenExport {
  /** The members with data, by their paths. */
  data?: Record<string, string | Buffer>;
  manifest?: object;
  /** Instead of the members that the manifest lists. */
  entries?: GivenEntry[];
}

/** An export of an app, as a stranger could make it. */
export async function exportOf({ data = {}, manifest = {}, entries }: GivenExport = {}): Promise<Buffer> {
  const source = await tarOfFiles({ "src/index.js": 'export default { fetch: () => new Response("Hello") };' });
  const members = [
    { name: "source.archive", text: source },
    ...Object.entries(data).map(([name, text]) => ({ name, text: Buffer.from(text) })),
  ];
  const described = {
    format: "app-export",
    version: 1,
    exported_at: "2026-11-27T00:00:00.000Z",
    runtime: "worker",
    app: {
      name: "moved",
      requested_runtime: null,
      root_directory: null,
      build_network: false,
      repository: null,
      variables: [{ name: "REGION", secret: false, build: false }],
    },
    warnings: [],
    members: members.map(({ name, text }) => ({ path: name, size: text.length, sha256: sha256(text) })),
    ...manifest,
  };
  return gzipSync(await tarOf([{ name: "manifest.json", text: JSON.stringify(described) }, ...(entries ?? members)]));
}
