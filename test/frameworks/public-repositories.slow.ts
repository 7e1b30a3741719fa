import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedBrowser } from "../support/clients/browser.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { freePort } from "../support/service/free-port.ts";
import { createInstallation, type Installation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { createOrganization, deployRepository } from "./create-tools/deploy-project.ts";
import { openPage } from "./open-page.ts";
import { nameOf, type PublicRepository } from "./public-repositories/public-repository.ts";
import { NotFetched, publishRepository } from "./public-repositories/publish-repository.ts";
import { REPOSITORIES } from "./public-repositories/repositories.ts";
import { type Result, writeRepositoryResult } from "./results-page.ts";
import { startTlsProxy } from "./tls-proxy.ts";

const TIME_LIMIT_MS = 1_200_000;
const MAX_DELETE_CALLS = 6;
/** The teardown has not finished. */
const TEARDOWN_PENDING = 500;
const NOT_DEPLOYED = { framework: null, isReady: false, notes: [], seconds: null } as const;

const stack = new AsyncDisposableStack();
const browser = sharedBrowser();
let base = "";
let installation: Installation;
let rest: RestClient;

/** As in production, the apps have https, because some of them redirect to it. */
beforeAll(async () => {
  base = stack.use(await temporaryFolder()).path;
  installation = stack.use(await createInstallation());
  const [port, edgePort] = [await freePort(), await freePort()];
  const proxy = stack.use(await startTlsProxy(edgePort));
  const service = await installation.start({
    ...{ PORT: String(port), EDGE_PORT: String(edgePort), PUBLIC_URL: `https://localhost:${port}` },
    APPS_DOMAIN: `localhost:${proxy.port}`,
    GIT_BASE_URL: `file://${path.join(base, "repositories")}`,
  });
  rest = new RestClient(`http://127.0.0.1:${port}`, service.tokens.api_key);
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
  const owner = await createOrganization(installation, rest);
  const start = performance.now();
  const app = await deployRepository(owner, name, repository);
  const seconds = Math.round((performance.now() - start) / 1000);
  const framework = app.manifest?.framework ?? null;
  if (app.status !== "ready") {
    const said = `${app.error} ${app.status_message}`;
    const isExpected = repository.kind === "other language" && said.includes(repository.text);
    if (!isExpected)
      process.stdout.write(`${nameOf(repository)}: ${(await owner.get(`/v1/apps/${app.id}/logs`)).text}\n`);
    return { framework, isReady: false, failure: isExpected ? null : said, notes: isExpected ? [said] : [], seconds };
  }
  const url = new URL(repository.path ?? "/", app.url).href;
  const { failure, notes } = await openPage(browser(), url, { text: repository.text });
  const remains = await deleteApp(owner, app.id);
  const warnings = app.status_message === null ? [] : [app.status_message];
  return { framework, isReady: true, failure: failure ?? remains, notes: [...warnings, ...notes], seconds };
}

/** Repeats the call as its response says, because a slow disk takes longer than a call for the files of a large app. */
async function deleteApp(owner: RestClient, id: string): Promise<string | null> {
  let { status, body } = await owner.delete(`/v1/apps/${id}`);
  for (let call = 1; status === TEARDOWN_PENDING && call < MAX_DELETE_CALLS; call++)
    ({ status, body } = await owner.delete(`/v1/apps/${id}`));
  // It can be gone before the call is repeated.
  return body["status"] === "deleted" || status === 404 ? null : `Not deleted: ${JSON.stringify(body)}`;
}
