// Writes what is generated from the routers: docs/openapi.json, docs/rest.md, docs/tools.md and docs/scopes.md, and the
// procedures of the SDK. With --check, fails if one of them is out of date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { TOOL_LIST, TOOLS } from "../routers/tool-registry.ts";
import { createOpenApiDocument } from "../server/rest/openapi.ts";
import { OPERATIONS } from "../server/rest/operations.ts";
import { renderCliCommands } from "./cli-commands.ts";
import { renderSdkProcedures } from "./client-procedures.ts";
import { renderRestReference } from "./rest-reference.ts";
import { renderScopesReference } from "./scopes-reference.ts";
import { renderToolsReference } from "./tools-reference.ts";

const PROJECT = path.join(import.meta.dirname, "..");
const document = createOpenApiDocument("http://127.0.0.1:3000");
const files = {
  "clients/sdk/src/generated/procedures.ts": renderSdkProcedures(),
  "clients/cli/src/generated/commands.ts": renderCliCommands(),
  "docs/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  "docs/rest.md": renderRestReference(document),
  "docs/scopes.md": renderScopesReference(OPERATIONS, TOOLS.values()),
  "docs/tools.md": renderToolsReference(TOOL_LIST),
};

for (const [name, content] of Object.entries(files)) {
  const file = path.join(PROJECT, name);
  if (!process.argv.includes("--check")) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== content) {
    console.error(`${name} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
}
