import { openTestEdge } from "./test-edge.ts";

// A process of its own that a test can kill: opens an edge on the given folder, publishes an app that counts its
// requests, and says so.
const [root, slug] = process.argv.slice(2);
if (root === undefined || slug === undefined) throw new Error("Usage: edge-process.ts <folder> <slug>");
const t = await openTestEdge({ root });
await t.publish(
  slug,
  `export default { async fetch(request, { KV }) {
  const count = Number(await KV.get("count")) + 1;
  await KV.put("count", String(count));
  return new Response(String(count));
} }`,
  { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "n" }] },
);
process.stdout.write("published\n");
