import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedBrowser } from "../support/clients/browser.ts";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createOrganization, deployRepository } from "./create-tools/deploy-project.ts";
import { openPage } from "./open-page.ts";
import { nameOf, type PublicRepository } from "./public-repositories/public-repository.ts";
import { NotFetched, publishRepository } from "./public-repositories/publish-repository.ts";
import { REPOSITORIES } from "./public-repositories/repositories.ts";
import { type Result, writeRepositoryResult } from "./results-page.ts";

const TIME_LIMIT_MS = 1_200_000;
const NOT_DEPLOYED = { framework: null, isReady: false, notes: [], seconds: null } as const;

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

describe("a public repository", () => {
  test.each(REPOSITORIES.map((repository, at) => [nameOf(repository), repository, at] as const))(
    "deploys unchanged, or is refused as another language: %s",
    async (_name, repository, at) => {
      const result = await deploy(repository, `repositories/app-${at}`);
      await writeRepositoryResult(repository, result);
      expect(result.failure).toBeNull();
    },
    TIME_LIMIT_MS,
  );
});

async function deploy(repository: PublicRepository, name: string): Promise<Result> {
  try {
    await publishRepository(repository, path.join(base, "repositories"), name);
  } catch (error) {
    if (!(error instanceof NotFetched)) throw error;
    return { ...NOT_DEPLOYED, failure: `Not fetched: ${error.message}` };
  }
  const rest = await createOrganization(installation, service.rest);
  const start = performance.now();
  const app = await deployRepository(rest, name, repository);
  const seconds = Math.round((performance.now() - start) / 1000);
  const framework = app.manifest?.framework ?? null;
  if (app.status !== "ready") {
    const said = `${app.error} ${app.status_message}`;
    const isExpected = repository.kind === "other language" && said.includes(repository.text);
    if (!isExpected)
      process.stdout.write(`${nameOf(repository)}: ${(await rest.get(`/v1/apps/${app.id}/logs`)).text}\n`);
    return { framework, isReady: false, failure: isExpected ? null : said, notes: isExpected ? [said] : [], seconds };
  }
  const url = new URL(repository.path ?? "/", app.url).href;
  const { failure, notes } = await openPage(browser(), url, { text: repository.text });
  expect((await rest.delete(`/v1/apps/${app.id}`)).body).toMatchObject({ status: "deleted" });
  const warnings = app.status_message === null ? [] : [app.status_message];
  return { framework, isReady: true, failure, notes: [...warnings, ...notes], seconds };
}
