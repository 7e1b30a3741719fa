// A process that a test can kill: opens a platform on the given data folder, publishes an app that counts its requests,
// and prints a line.
import { openTestPlatform } from "./test-platform.ts";

const [dataDirectory, slug] = process.argv.slice(2);
if (dataDirectory === undefined || slug === undefined) throw new Error("Usage: platform-process.ts <folder> <slug>");
const t = await openTestPlatform({ dataDirectory });
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
