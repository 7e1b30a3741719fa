import path from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { lacksBrowser, openBrowser } from "../support/clients/browser.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { PROJECT } from "../support/service/service-process.ts";

const service = sharedHarness();

/** Calls a procedure, follows a log and gets an error, in a page of the service. */
const PROGRAM = `(async ({ url, token, id }) => {
  const service = sdk.createClient({ url, token });
  const { apps } = await service.apps.list();
  const events = [];
  for await (const event of service.followBuildLog({ id })) events.push(event.type);
  const error = await service.apps.get({ id: crypto.randomUUID() }).catch((reason) => reason);
  return { ids: apps.map((app) => app.id), events, code: error.code, isError: error instanceof sdk.ServiceError };
})`;

test.skipIf(lacksBrowser)("the SDK calls procedures and follows logs in a browser", async () => {
  const { publicUrl } = service().service;
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { status: "ready" });
  const entryPoints = [path.join(PROJECT, "clients/sdk/src/client.ts")];
  const bundled = await build({ entryPoints, bundle: true, format: "iife", globalName: "sdk", write: false });
  await using browser = await openBrowser();
  const page = await browser.open();
  await page.goto(publicUrl);
  const argument = JSON.stringify({ url: publicUrl, token: tenant.api_key, id: app.id });
  const result = await page.evaluate(`${bundled.outputFiles[0]?.text}\n${PROGRAM}(${argument})`);
  expect(result).toEqual({ ids: [app.id], events: ["end"], code: "not_found", isError: true });
});
