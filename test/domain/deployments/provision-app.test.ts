import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { UnreadableVariable } from "../../../domain/ports/app-variables.ts";
import {
  MissingVariables,
  NoHandler,
  NothingListens,
  ServerError,
  ServerMigrationFailed,
  UnhealthyScript,
  UnsupportedScript,
} from "../../../domain/ports/edge-platform.ts";
import { MigrationFailed } from "../../../domain/ports/sql-databases.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import type { ScriptedSteps } from "../../support/builds/scripted-ports.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const given = (steps?: ScriptedSteps) => givenQueuedDeployment(service(), steps);

test("the migrations of a bundle are applied before it goes live", async () => {
  const migrations = [{ name: "1.sql", statements: ["create table a (id)"] }];
  const app = await given({
    bundle: () => ({ migrations }),
    publish: () => {
      expect(app.ports.migrated).toHaveLength(1);
    },
  });
  await app.run();
  expect(app.ports.migrated).toEqual([{ databaseId: `app-${app.appId}`, migrations }]);
  expect(await app.log()).toContain("[service] applying 1 migrations\n");
  app.ports.steps = {};
  await app.redeploy();
  await app.run();
  expect(app.ports.migrated).toHaveLength(1);
  expect(await app.log(2)).not.toContain("applying");
});

test("a migration that the database rejects fails the deployment, and an error of the database is an internal error", async () => {
  const migrations = [{ name: "1.sql", statements: ["create"] }];
  const app = await given({
    bundle: () => ({ migrations }),
    migrate: () => {
      throw new MigrationFailed("1.sql: incomplete input");
    },
  });
  await app.run();
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: "1.sql: incomplete input",
    status_message: "Correct the migration, test it against an empty database, and deploy again.",
  });
  expect([app.ports.published, app.ports.internalErrors]).toEqual([[], []]);
  app.ports.steps.migrate = () => {
    throw new Error("disk full");
  };
  await app.redeploy();
  await expect(app.run()).rejects.toMatchObject({ cause: new Error("disk full") });
});

test("the edge platform gets the script, the app, its database, and the fencing token as the generation", async () => {
  const app = await given({
    bundle: async ({ outputDirectory }) => {
      const directory = path.join(outputDirectory, "static");
      await mkdir(directory);
      return { assets: { directory, rules: { html_handling: "none" } } };
    },
  });
  await app.run();
  expect(app.ports.published[0]?.script.organizationId).toBe(app.tenant.org_id);
  expect(app.ports.published).toMatchObject([
    {
      slug: app.slug,
      text: "script",
      script: { appId: app.appId, generation: 1, databaseId: `app-${app.appId}` },
    },
  ]);
  expect(app.ports.published[0]?.script.assets?.rules).toEqual({ html_handling: "none" });
});

test.each([
  [new UnhealthyScript("It responded with 500."), "It responded with 500.", "did not respond to its first request"],
  [new UnsupportedScript("It uses queues."), "It uses queues.", "Remove it from the wrangler configuration"],
  [new UnreadableVariable("API_KEY"), '"API_KEY" cannot be decrypted', "Then deploy again."],
])("an app that cannot go live because of %s fails with advice", async (problem, error, advice) => {
  const app = await given({
    publish: () => {
      throw problem;
    },
  });
  await app.run();
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: expect.stringContaining(error),
    status_message: expect.stringContaining(advice),
  });
  expect(app.ports.internalErrors).toEqual([]);
});

test("an app that is live with server errors says so, with what it printed and the variable that it misses", async () => {
  const printed = ["starting", "Error: Missing env DATABASE_URL"];
  const app = await given({ publish: () => new ServerError("It responded with status 500", { printed }) });
  await app.run();
  const message =
    'It responded with status 500. The app printed: "starting / Error: Missing env DATABASE_URL" Set DATABASE_URL: ';
  expect(await app.view()).toMatchObject({ status: "ready", error: null });
  expect((await app.view())["status_message"]).toContain(`The app is live. ${message}`);
  expect(await app.log()).toContain("[service] the app printed: starting\n");
  expect(await app.log()).toContain(`[service] warning: ${message}`);
});

test("an app that redirects to https on an installation with http is live with a warning", async () => {
  const app = await given({ publish: () => ({ redirectsToHttps: true }) });
  await app.run();
  expect((await app.view())["status_message"]).toContain("The app is live. The app redirects requests to https, and");
  expect(await app.log()).toContain("[service] warning: The app redirects requests to https");
});

test("an app that is live without a variable that it says it needs has a warning that names the variable", async () => {
  const app = await given({ publish: () => ["ready", "Error: SHOP_DOMAIN environment variable is not set"] });
  await app.run();
  const warning = "The app printed that SHOP_DOMAIN is not set. Set it if the app needs it: PUT ";
  expect(await app.view()).toMatchObject({ status: "ready", error: null });
  expect((await app.view())["status_message"]).toContain(`The app is live. ${warning}`);
  expect(await app.log()).toContain("[service] the app printed: ready\n");
  await app.setVariable("SHOP_DOMAIN", { value: "shop.test" });
  await app.redeploy();
  await app.run();
  expect((await app.view())["status_message"]).toBeNull();
});

test("an app that does not start fails with the variables that its example of an environment names, and it lacks", async () => {
  const example = async ({ directory }: { directory: string }) => {
    await writeFile(path.join(directory, ".env.example"), "API_KEY=\nMODE=\nDECLARED=\n");
    await writeFile(path.join(directory, "wrangler.toml"), '[vars]\nDECLARED = "x"\n');
  };
  const publish = () => {
    throw new UnhealthyScript("It stopped.");
  };
  const app = await given({ checkOut: example, publish });
  await app.setVariable("MODE", { value: "test" });
  await app.run();
  expect((await app.view())["status_message"]).toMatch(
    /^\.env\.example names a variable that is not set: API_KEY\. Set it if the app needs it: PUT /,
  );
});

test("the build log of a live app lists the variables that its example names, and it lacks", async () => {
  const example = ({ directory }: { directory: string }) => writeFile(path.join(directory, ".env.example"), "SHOP=\n");
  const app = await given({ checkOut: example });
  await app.run();
  expect((await app.view())["status_message"]).toBeNull();
  expect(await app.log()).toContain("[service] .env.example names a variable that is not set: SHOP. Set it if the app");
});

test("an app that connects to a server on its own machine fails with the variables of its example that name the server", async () => {
  const example = async ({ directory }: { directory: string }) => {
    await writeFile(path.join(directory, ".env.example"), "MYSQL_HOST=localhost\nMYSQL_PORT=3306\nCOOKIE_NAME=\n");
  };
  const publish = () => {
    throw new UnhealthyScript("connect ECONNREFUSED 127.0.0.1:3306");
  };
  const app = await given({ checkOut: example, publish });
  await app.run();
  const advice =
    "where none runs. Use a MySQL server that is reachable from the internet. Set MYSQL_HOST and MYSQL_PORT:";
  expect((await app.view())["status_message"]).toContain(advice);
});

test("an error that ends with a colon is quoted with the lines that follow it", async () => {
  const error = ["Error: validation failed:", "- property FILE_DRIVER is wrong"];
  const printed = ["> app@1.0.0 start", "throw error;", ...error, "[nodemon] app crashed"];
  const publish = () => {
    throw new UnhealthyScript("It ended: Error: validation failed:", { printed });
  };
  const app = await given({ publish });
  await app.run();
  expect((await app.view())["error"]).toBe(
    'It ended: Error: validation failed. The app printed: "- property FILE_DRIVER is wrong"',
  );
});

test.each([
  [new MissingVariables(["A", "B"]), "requires the variables A and B", "Set A and B: PUT"],
  [new NoHandler("It has none."), "It has none.", "Export a handler"],
  [new NothingListens("The server ended."), "The server ended.", "listen on the port of the variable PORT"],
  [new ServerMigrationFailed("No table a."), "No table a.", "Run it against a copy of the database"],
  [new UnhealthyScript("getaddrinfo ENOTFOUND db:5432"), "ENOTFOUND db", "could not find the host db. It reaches"],
  [new UnhealthyScript("listen EACCES: permission denied 0.0.0.0:80"), "EACCES", "listens on port 80, which only root"],
  [new UnhealthyScript("ReferenceError: Bun is not defined"), "Bun is not defined", "APIs that only Bun has"],
  [new UnhealthyScript("connect ECONNREFUSED 127.0.0.1:6379"), "ECONNREFUSED", "Use a Redis server"],
])("an app that lacks something fails with what it is: %s", async (problem, error, advice) => {
  const publish = () => {
    throw problem;
  };
  const app = await given({ publish });
  await app.run();
  const { status, error: shown, status_message: message } = await app.view();
  expect([status, shown, message]).toEqual(["failed", expect.stringContaining(error), expect.stringContaining(advice)]);
});

test("an error of the edge platform is an internal error", async () => {
  const app = await given({
    publish: () => {
      throw new Error("no memory");
    },
  });
  await expect(app.run()).rejects.toMatchObject({ cause: new Error("no memory") });
  expect(app.ports.internalErrors).toHaveLength(1);
});

test("an app that is deleted while its database is created is not published", async () => {
  const app = await given();
  const { deps } = app.ports;
  const create = () => deps.em.fork().nativeUpdate(App, { id: app.appId }, { status: "deleting" });
  await app.run(undefined, { ...deps, databases: { ...deps.databases, create: async () => void (await create()) } });
  expect(app.ports.published).toEqual([]);
  expect(app.ports.internalErrors).toEqual([]);
  expect((await app.find()).status).toBe("provisioning");
});

test("a deployment that is stopped while its resources are created is not published", async () => {
  const stop = new AbortController();
  const app = await given();
  const { databases } = app.ports.deps;
  const stopping = { ...databases, create: async () => stop.abort() };
  await app.run(stop.signal, { ...app.ports.deps, databases: stopping });
  expect([app.ports.published, (await app.find()).status]).toEqual([[], "queued"]);
});
