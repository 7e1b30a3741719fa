import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createProject, readToolVersion, ToolFailed } from "./create-tools/create-project.ts";
import {
  commitFolder,
  createOrganization,
  deployRepository,
  findWrongResponse,
} from "./create-tools/deploy-project.ts";
import { type Template, TEMPLATES } from "./create-tools/templates.ts";

/** Of a template: the create tool, which may install packages, and the deployment. */
const TIME_LIMIT_MS = 1_200_000;

const stack = new AsyncDisposableStack();
let base = "";
let installation: Installation;
let service: ServiceProcess;

beforeAll(async () => {
  base = stack.use(await temporaryFolder()).path;
  installation = stack.use(await createInstallation());
  service = await installation.start({ GIT_BASE_URL: `file://${path.join(base, "repositories")}` });
});
afterAll(() => stack.disposeAsync());

describe("a fresh project of a public create tool", () => {
  test.each(TEMPLATES.map((template, at) => [template.name, template, at] as const))(
    "deploys unchanged: %s",
    async (_name, template, at) => {
      const result = await tryTemplate(template, `frameworks/app-${at}`);
      await writeResult(TEMPLATES, template, result);
      expect(result.failure).toBeNull();
    },
    TIME_LIMIT_MS,
  );
});

async function tryTemplate(template: Template, repo: string): Promise<Result> {
  const home = path.join(base, "home");
  await using work = await temporaryFolder(base);
  await mkdir(home, { recursive: true });
  const version = await readToolVersion(template.tool, work.path, home);
  try {
    await commitFolder(await createProject(template, work.path, home), path.join(base, "repositories"), repo);
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    return { version, framework: null, failure: `The tool created no project: ${error.message}`, seconds: null };
  }
  return { version, ...(await deploy(template, repo)) };
}

async function deploy(template: Template, repo: string): Promise<Omit<Result, "version">> {
  const rest = await createOrganization(installation, service.rest);
  const start = performance.now();
  const app = await deployRepository(rest, repo);
  const seconds = Math.round((performance.now() - start) / 1000);
  const framework = app.manifest?.framework ?? null;
  if (app.status !== "ready") {
    const { text } = await rest.get(`/v1/apps/${app.id}/logs`);
    process.stdout.write(`${template.name}: ${text}\n`);
    return { framework, failure: `${app.error} ${app.status_message}`, seconds };
  }
  const failure = await findWrongResponse(new URL(template.path ?? "/", app.url).href, template.marker);
  expect((await rest.delete(`/v1/apps/${app.id}`)).body["status"]).toBe("deleted");
  return { framework, failure, seconds };
}

const FILE = path.join(import.meta.dirname, "../../docs/frameworks.md");
const MAX_RESULT_CHARACTERS = 500;

interface Result {
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
async function writeResult(templates: readonly Template[], template: Template, result: Result): Promise<void> {
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
