// Generates a client of the OpenAPI document `openapi.json` in a folder with each generator, with default settings:
// `schema.ts` with openapi-typescript, `client/` with @hey-api/openapi-ts.
//
// usage: node generate-clients.mjs <folder>
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";

const [, , folder = ""] = process.argv;
const document = JSON.parse(await readFile(path.join(folder, "openapi.json"), "utf8"));
await writeFile(path.join(folder, "schema.ts"), astToString(await openapiTS(structuredClone(document))));
const tsConfigPath = path.join(folder, "tsconfig.json");
await createClient({
  input: document,
  output: { path: path.join(folder, "client"), tsConfigPath },
  logs: { level: "silent" },
});
