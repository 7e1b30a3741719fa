import { writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigFile } from "../../clients/cli/src/config-file.ts";
import { readVariables } from "../../clients/cli/src/deploy-variables.ts";
import { readEnvironment } from "../../clients/cli/src/environment.ts";
import { Output } from "../../clients/cli/src/output.ts";
import { Session } from "../../clients/cli/src/session.ts";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
});
afterAll(() => cli[Symbol.asyncDispose]());

test("deploy sets variables, and secrets from the environment, from standard input and from a file", async () => {
  const file = path.join(cli.folder, "shop.env");
  await writeFile(file, '# Keys\nexport FILE_KEY="from the\nfile"\nREGION=replaced\n');
  const { code, stdout, stderr } = await cli.run(
    [
      ...["deploy", "acme/site", "--no-wait", "--json", "--secrets-file", file],
      ...["--var", "REGION=Zürich", "--var", "QUERY=a=b", "--secret", "API_KEY", "--secret", "PIPED"],
      ...["--build-var", "REGION", "--build-var", "API_KEY"],
    ],
    { env: { API_KEY: "from-the-environment" }, input: "from-standard-input\n" },
  );
  expect([code, stdout + stderr]).toEqual([0, expect.not.stringContaining("from-")]);
  const { app_id: appId } = JSON.parse(stdout) as { app_id: string };
  const { variables } = (await tenant.rest.get(`/v1/apps/${appId}/variables`)).body as { variables: object[] };
  expect(variables).toMatchObject([
    { name: "API_KEY", value: null, secret: true, build: true },
    { name: "FILE_KEY", value: null, secret: true, build: false },
    { name: "PIPED", value: null, secret: true, build: false },
    { name: "QUERY", value: "a=b", secret: false, build: false },
    { name: "REGION", value: "Zürich", secret: false, build: true },
  ]);
  const { values } = await service().service.parts.deploymentDeps.variables.read(appId);
  expect(values).toMatchObject({
    API_KEY: "from-the-environment",
    FILE_KEY: "from the\nfile",
    PIPED: "from-standard-input",
  });
});

test.each([
  [["--var", "REGION"], "must have the form NAME=VALUE"],
  [["--secret", "API_KEY=s3cret-value"], "must be a name without a value"],
  [["--secret", "API_KEY"], "The value of API_KEY is missing"],
  [["--secret", "API_KEY", "--secret", "OTHER"], "The values of API_KEY, OTHER are missing"],
  [["--secrets-file", "/nowhere.env"], "Cannot read /nowhere.env: ENOENT"],
  [["--build-var", "REGION"], "no option sets this variable"],
  [["--var", "lower=1"], "variables.0.name: must match"],
])("deploy with %j fails with the exit code 2, and says why", async (options, reason) => {
  const { code, stdout, stderr } = await cli.run(["deploy", "acme/site", "--no-wait", ...options]);
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(reason)]);
  expect(stderr).not.toContain("s3cret-value");
});

test("a terminal asks for a secret that is not in the environment, and does not show it", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const environment = readEnvironment({ XDG_CONFIG_HOME: "/nowhere" });
  const context = {
    environment,
    session: new Session(new ConfigFile(environment.configFolder), environment, {}),
    output: new Output({ stdout: new PassThrough(), stderr, json: false, color: false }),
    ...{ stdin, stderr, signal: new AbortController().signal },
  };
  stdin.write("typed-value\n");
  expect(await readVariables(context, { secret: ["API_KEY"] })).toEqual([
    { name: "API_KEY", value: "typed-value", secret: true },
  ]);
  stdin.write("\u0003");
  await expect(readVariables(context, { secret: ["API_KEY"] })).rejects.toThrow("The value of API_KEY is missing.");
  expect(await text(stderr.end())).toBe("API_KEY: \nAPI_KEY: \n");
});
