import { expect, test } from "vitest";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";

/** The tests run concurrently, because most of their time they wait for another process. */
const OPTIONS = { concurrent: true };

async function deploy(service: ServiceProcess): Promise<unknown> {
  const { body } = await service.rest.deploy({ repo: "examples/hello" });
  for (;;) {
    const app = await service.rest.get(`/v1/apps/${String(body["app_id"])}`);
    if (["ready", "failed"].includes(String(app.body["status"]))) return app.body["status"];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(
  "a second process on the database of another one does not start, whatever its data folder, and the first one is not affected",
  OPTIONS,
  async () => {
    await using database = await createTestDatabase();
    await using one = await createInstallation();
    await using two = await createInstallation();
    const { databaseUrl, redisUrl } = database;
    const env = { DATABASE_URL: databaseUrl, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) };
    const first = await one.start(env);
    for (const installation of [one, two]) {
      const error = (await installation.start(env).catch((cause: unknown) => cause)) as Error;
      expect(error.message).toMatch(/^the service ended with 1:\n/);
      expect(error.message.trimEnd().split("\n").at(-1)).toMatch(
        new RegExp(
          `^DATABASE_URL is in use by another process of this service \\(service on .+, process ${first.pid}\\)\\. Only one process per database can run the apps`,
        ),
      );
    }
    expect(await deploy(first)).toBe("ready");
    const { body } = await first.rest.get("/v1/apps");
    expect(body["apps"]).toHaveLength(1);
    const [app] = body["apps"] as { id: string }[];
    expect((await first.rest.delete(`/v1/apps/${app!.id}`)).body).toEqual({ status: "deleted" });
  },
);

test(
  "a process on the database and data folder of a process that was killed starts and continues its deployment",
  OPTIONS,
  async () => {
    await using database = await createTestDatabase();
    await using installation = await createInstallation();
    const env = { DATABASE_URL: database.databaseUrl };
    const first = await installation.start(env);
    const { body } = await first.rest.deploy({ repo: "examples/hello" });
    await first.end("SIGKILL");
    const second = await installation.start(env);
    await expect
      .poll(async () => (await second.rest.get(`/v1/apps/${String(body["app_id"])}`)).body["status"])
      .toBe("ready");
  },
);
