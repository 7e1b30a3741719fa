import { mkdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedBrowser } from "../support/clients/browser.ts";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createProject, readToolVersion, ToolFailed } from "./create-tools/create-project.ts";
import { commitFolder, createOrganization, deployRepository } from "./create-tools/deploy-project.ts";
import { type Template, TEMPLATES } from "./create-tools/templates.ts";
import { openPage } from "./open-page.ts";
import { type Result, writeTemplateResult } from "./results-page.ts";

/** Of a template: the create tool, which may install packages, and the deployment. */
const TIME_LIMIT_MS = 1_200_000;

const stack = new AsyncDisposableStack();
const browser = sharedBrowser();
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
      const { version, ...result } = await tryTemplate(template, `frameworks/app-${at}`);
      await writeTemplateResult(template, version, result);
      expect(result.failure).toBeNull();
    },
    TIME_LIMIT_MS,
  );
});

async function tryTemplate(template: Template, repo: string): Promise<Result & { version: string }> {
  const home = path.join(base, "home");
  await using work = await temporaryFolder(base);
  await mkdir(home, { recursive: true });
  const version = await readToolVersion(template.tool, work.path, home);
  try {
    await commitFolder(await createProject(template, work.path, home), path.join(base, "repositories"), repo);
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    const failure = `The tool created no project: ${error.message}`;
    return { version, framework: null, isReady: false, failure, notes: [], seconds: null };
  }
  return { version, ...(await deploy(template, repo)) };
}

async function deploy(template: Template, repo: string): Promise<Result> {
  const rest = await createOrganization(installation, service.rest);
  const start = performance.now();
  const app = await deployRepository(rest, repo);
  const seconds = Math.round((performance.now() - start) / 1000);
  const framework = app.manifest?.framework ?? null;
  if (app.status !== "ready") {
    const { text } = await rest.get(`/v1/apps/${app.id}/logs`);
    process.stdout.write(`${template.name}: ${text}\n`);
    return { framework, isReady: false, failure: `${app.error} ${app.status_message}`, notes: [], seconds };
  }
  const url = new URL(template.path ?? "/", app.url).href;
  const { failure, notes } = await openPage(browser(), url, { markup: template.marker });
  expect((await rest.delete(`/v1/apps/${app.id}`)).body["status"]).toBe("deleted");
  const warnings = app.status_message === null ? [] : [app.status_message];
  return { framework, isReady: true, failure, notes: [...warnings, ...notes], seconds };
}
