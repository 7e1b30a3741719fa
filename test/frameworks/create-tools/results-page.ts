import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Template } from "./templates.ts";

const FILE = path.join(import.meta.dirname, "../../../docs/frameworks.md");
const MAX_RESULT_CHARACTERS = 500;

export interface Result {
  version: string;
  /** The framework that the service found. */
  framework: string | null;
  /** `null` when the app was ready and responded. */
  failure: string | null;
  /** From the deploy request until the deployment ended; `null` when nothing was deployed. */
  seconds: number | null;
}

const HEADER = `# Fresh projects of public create tools

\`npm run test:frameworks\` wrote this page. Do not edit it.

The test runs the newest version of each tool from npm in an empty folder, commits what the tool writes, and deploys it unchanged
with \`POST /v1/apps/deploy\` on a service with default settings. **ready** means that the deployment ended as \`ready\`, that the app's page
contains the text that its template has, and that the scripts and styles of the page load. The seconds are those of the
deployment, with the installation of its packages and with cold caches. The machine of the test reaches the npm registry only, so
tools that download their templates from elsewhere fail there.

| Template | Tool | Arguments | Framework found | Result | Seconds |
|---|---|---|---|---|---|
`;

/** Replaces the row of one template, and keeps the others in the order of `templates`. */
export async function writeResult(templates: readonly Template[], template: Template, result: Result): Promise<void> {
  const rows = await readRows();
  rows.set(template.name, row(template, result));
  const ordered = templates.flatMap(({ name }) => rows.get(name) ?? []);
  await writeFile(FILE, `${HEADER}${ordered.join("\n")}\n`);
}

async function readRows(): Promise<Map<string, string>> {
  const page = await readFile(FILE, "utf8").catch(() => "");
  const lines = page.split("\n").filter((line) => line.startsWith("| "));
  return new Map(lines.map((line) => [line.split(" | ")[0]?.slice(2) ?? "", line]));
}

function row({ name, tool, args, second }: Template, { version, framework, failure, seconds }: Result): string {
  const change = second ? `, then ${second.tool} \`${second.args.join(" ")}\`` : "";
  const result = failure === null ? "**ready**" : cell(failure);
  return `| ${name} | ${tool} ${version} | \`${args.join(" ")}\`${change} | ${framework ?? ""} | ${result} | ${seconds ?? ""} |`;
}

function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").slice(0, MAX_RESULT_CHARACTERS);
  return line.replaceAll(/[|<>*_`[\]]/g, (sign) => (sign === "|" ? "\\|" : `\\${sign}`));
}
