import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { APP_ID, type GitHubHost, githubHost } from "../support/builds/github-host.ts";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const resources = new AsyncDisposableStack();
let harness: Harness;
let host: GitHubHost;
let cli: TestCli;

beforeAll(async () => {
  const { path: folder } = resources.use(await temporaryFolder());
  host = resources.use(await githubHost(folder));
  const config = { gitBaseUrl: "http://127.0.0.1:1", gitPrivateNetworks: ["127.0.0.1"] };
  harness = resources.use(await createHarness({ worker: true, sharesBuilds: true, config }));
  const { api_key: token } = await harness.tenant();
  cli = resources.use(await createCli({ SVC_URL: harness.service.publicUrl, SVC_TOKEN: token }));
  await (await Repository.create(folder, "acme/site")).commitFiles({ "index.html": "private page" });
});
afterAll(() => resources.disposeAsync());

test("a GitHub App is connected with its key from standard input, and an app is deployed by its URL, or with its host", async () => {
  const options = ["github_app", "--url", host.url, "--github-app-id", APP_ID, "--private-key", "-"];
  const connected = await cli.run(["git-connections", "create", ...options, "--json"], { input: host.privateKey });
  expect([connected.code, connected.stderr]).toEqual([0, ""]);
  expect(JSON.parse(connected.stdout)).toMatchObject({
    kind: "github_app",
    repositories: "acme",
    github_app_id: APP_ID,
  });
  const name = new URL(host.url).host;
  for (const args of [[`${host.url}/acme/site/tree/main`], ["acme/site", "--host", name]]) {
    const { code, stdout, stderr } = await cli.run(["deploy", ...args, "--json"]);
    expect([args, code, code === 0 ? "" : stderr]).toEqual([args, 0, ""]);
    const { slug } = JSON.parse(stdout) as { slug: string };
    const app = await cli.run(["apps", "get", slug, "--json"]);
    expect(JSON.parse(app.stdout)).toMatchObject({ status: "ready", repo: "acme/site", host: name });
  }
  const unknown = await cli.run(["deploy", "https://gitlab.example.com/acme/site"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining("no git connection to gitlab.example.com"),
  ]);
});
