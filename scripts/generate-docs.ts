// Writes the documents that are generated from the routers: docs/openapi.json, docs/rest.md, docs/tools.md and docs/scopes.md.
// With --check, fails if one of them is out of date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { TOOL_LIST, TOOLS } from "../routers/tool-registry.ts";
import { createOpenApiDocument } from "../server/rest/openapi.ts";
import { OPERATIONS } from "../server/rest/operations.ts";
import { renderRestReference } from "./rest-reference.ts";
import { renderScopesReference } from "./scopes-reference.ts";
import { renderToolsReference } from "./tools-reference.ts";

const docs = path.join(import.meta.dirname, "..", "docs");
const document = createOpenApiDocument("http://127.0.0.1:3000");
const files = {
  "openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  "rest.md": renderRestReference(document, await readSection("Write a client")),
  "scopes.md": renderScopesReference(OPERATIONS, TOOLS.values()),
  "tools.md": renderToolsReference(TOOL_LIST),
};

/** Reads a section of the README, with its heading. */
async function readSection(title: string): Promise<string> {
  const readme = await readFile(path.join(docs, "..", "README.md"), "utf8");
  const section = readme.split(/^(?=## )/m).find((text) => text.startsWith(`## ${title}\n`));
  if (section === undefined) throw new Error(`README.md has no section "${title}"`);
  return section.trimEnd();
}

await mkdir(docs, { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const file = path.join(docs, name);
  if (!process.argv.includes("--check")) await writeFile(file, content);
  else if ((await readFile(file, "utf8").catch(() => "")) !== content) {
    console.error(`docs/${name} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
}
