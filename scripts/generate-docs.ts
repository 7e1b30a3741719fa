// Writes what is generated from the routers: docs/openapi.json, docs/rest.md and docs/tools.md. With --check, fails when they drifted.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { TOOL_LIST } from "../routers/tool-registry.ts";
import { openApiDocument } from "../server/rest/openapi.ts";
import { restReference } from "./rest-reference.ts";
import { toolsReference } from "./tools-reference.ts";

const docs = path.join(import.meta.dirname, "..", "docs");
const document = openApiDocument("http://127.0.0.1:3000");
const files = {
  "openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  "rest.md": restReference(document),
  "tools.md": toolsReference(TOOL_LIST),
};

await mkdir(docs, { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const file = path.join(docs, name);
  if (!process.argv.includes("--check")) await writeFile(file, content);
  else if ((await readFile(file, "utf8").catch(() => "")) !== content) {
    console.error(`docs/${name} no longer says what the routers say. Run: npm run docs`);
    process.exitCode = 1;
  }
}
