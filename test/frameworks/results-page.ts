import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type PublicRepository, type RepositoryKind, nameOf } from "./public-repositories/repositories.ts";
import type { Template } from "./create-tools/templates.ts";

const FILE = path.join(import.meta.dirname, "../../docs/frameworks.md");
const MAX_RESULT_CHARACTERS = 500;

/** What became of one project. */
export interface Result {
  /** The framework that the service found. */
  framework: string | null;
  /** Whether the deployment ended as `ready`. */
  isReady: boolean;
  /** `null` when the app was ready and worked in the browser. */
  failure: string | null;
  /** What the browser reported although the app worked. */
  notes: readonly string[];
  /** From the deploy request until the deployment ended; `null` when nothing was deployed. */
  seconds: number | null;
}

const INTRODUCTION = `# Public projects that the service deploys

\`npm run test:frameworks\` wrote this page. Do not edit it.

The test deploys each project unchanged with \`POST /v1/apps/deploy\` on a service with default settings, and opens its page in
Chromium. **works** means that the deployment ended as \`ready\`, that the page has a status of 2xx and the text that its template has, and
that its scripts and styles load. The seconds are those of the deployment, with the installation of its packages and with cold
caches. The machine of the test reaches the npm registry only.`;

const TEMPLATE_HEADER = `## Fresh projects of public create tools

The newest version of each tool from npm runs in an empty folder. Tools that download their templates from elsewhere fail.

| Template | Tool | Arguments | Framework found | Result | Seconds |
|---|---|---|---|---|---|`;

const REPOSITORY_HEADER = `## Public repositories

The newest commit of each repository, from the folder REPOSITORIES_DIR (see [repositories.md](repositories.md#tests-with-public-projects)). A folder of
a repository is deployed as a repository of its own, unless it is part of a workspace. Variables that its documentation requires are
set. Projects of other languages must be refused.

| Repository | Kind | Framework found | Result | Seconds |
|---|---|---|---|---|`;

const COUNT_HEADER = `| Kind | Repositories | Work, or are refused as expected | Ready but broken |
|---|---|---|---|`;

/** Replaces the row of a template in the page. */
export async function writeTemplateResult(template: Template, version: string, result: Result): Promise<void> {
  const { name, tool, args, second } = template;
  const change = second ? `, then ${second.tool} \`${second.args.join(" ")}\`` : "";
  const cells = [name, `${tool} ${version}`, `\`${args.join(" ")}\`${change}`, ...resultCells(result)];
  await replaceRow(name, cells);
}

/** Replaces the row of a repository in the page. */
export async function writeRepositoryResult(repository: PublicRepository, result: Result): Promise<void> {
  const [framework = "", outcome = "", seconds = ""] = resultCells(result);
  const isRefused = repository.kind === "other language";
  const said = isRefused ? outcome.replace("**works**", "**refused:**") : outcome;
  await replaceRow(nameOf(repository), [nameOf(repository), repository.kind, framework, said, seconds]);
}

async function replaceRow(name: string, cells: readonly string[]): Promise<void> {
  const rows = await readRows();
  rows.set(name, `| ${cells.join(" | ")} |`);
  const { TEMPLATES } = await import("./create-tools/templates.ts");
  const { REPOSITORIES } = await import("./public-repositories/repositories.ts");
  const templates = TEMPLATES.flatMap((each) => rows.get(each.name) ?? []);
  const repositories = REPOSITORIES.flatMap((each) => rows.get(nameOf(each)) ?? []);
  const parts = [
    INTRODUCTION,
    `${REPOSITORY_HEADER}\n${repositories.join("\n")}\n\n${COUNT_HEADER}\n${countKinds(repositories).join("\n")}`,
    `${TEMPLATE_HEADER}\n${templates.join("\n")}`,
  ];
  await writeFile(FILE, `${parts.join("\n\n")}\n`);
}

async function readRows(): Promise<Map<string, string>> {
  const page = await readFile(FILE, "utf8").catch(() => "");
  const lines = page.split("\n").filter((line) => line.startsWith("| "));
  return new Map(lines.map((line) => [line.split(" | ")[0]?.slice(2) ?? "", line]));
}

function resultCells({ framework, isReady, failure, notes, seconds }: Result): string[] {
  const said = failure === null ? "" : `${isReady ? "**ready but broken:** " : ""}${cell(failure)}`;
  const result = failure === null ? `**works**${notes.length > 0 ? ` ${cell(notes.join("; "))}` : ""}` : said;
  return [framework ?? "", result, String(seconds ?? "")];
}

function countKinds(rows: readonly string[]): string[] {
  const byKind = Map.groupBy(rows, (row) => row.split(" | ")[1] as RepositoryKind);
  return [...byKind].map(([kind, ofKind]) => {
    const count = (text: string) => ofKind.filter((row) => row.includes(` | ${text}`)).length;
    return `| ${kind} | ${ofKind.length} | ${count("**works**") + count("**refused:**")} | ${count("**ready but broken")} |`;
  });
}

function cell(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, MAX_RESULT_CHARACTERS);
  return line.replaceAll(/[|<>*_`[\]]/g, (sign) => (sign === "|" ? "\\|" : `\\${sign}`));
}
