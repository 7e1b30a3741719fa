import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { openScriptedModel, type ScriptedResponse } from "../support/documents/scripted-model.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation, type ServiceProcess, stillRunning } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const KILLS = Number(process.env["TEST_KILLS"] ?? 1);

const FILES = {
  "src/index.ts": 'export default { fetch: () => new Response("Hello") };\n',
  "package.json": JSON.stringify({ scripts: { build: "sleep 1" } }),
};

const RESPONSES: ScriptedResponse[] = [
  { tool: "read_file", input: { path: "src/index.ts" } },
  { tool: "edit_file", input: { path: "src/index.ts", old_string: '"Hello"', new_string: '"Hello Ada"' } },
  { tool: "run_build", input: {} },
  "It says Hello Ada.",
];

async function until(service: ServiceProcess, id: string, statuses: string[]): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await service.rest.get(`/v1/apps/${id}`);
    if (statuses.includes(String(body["status"]))) return body;
    await sleep(20);
  }
}

for (let kill = 0; kill < KILLS; kill += 1) {
  // Over the whole time of the agent, from its first response to after the trial.
  const delayMs = KILLS === 1 ? 1000 : Math.round((kill * 3000) / KILLS);
  verifies(
    [hazard(41), hazard(42)],
    `a service that is killed ${delayMs} ms after the start of a customization finishes it after the next start, and leaves no process`,
    async () => {
      await using folder = await temporaryFolder();
      await using installation = await createInstallation();
      await using model = await openScriptedModel();
      await (await Repository.create(folder.path, "acme/custom")).commitFiles(FILES);
      const env = {
        GIT_BASE_URL: pathToFileURL(folder.path).href,
        ...{ MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "scripted", MODEL_BASE_URL: model.url },
      };
      const first = await installation.start(env);
      model.respond(...RESPONSES);
      const { body } = await first.rest.deploy({ repo: "acme/custom", customization: "say Hello Ada" });
      const id = String(body["app_id"]);
      await until(first, id, ["customizing"]);
      await sleep(delayMs);
      const children = await first.descendants();
      await first.end("SIGKILL");
      model.respond(...RESPONSES);
      const second = await installation.start(env);
      const app = await until(second, id, ["ready", "failed"]);
      expect(app).toMatchObject({ status: "ready", error: null });
      expect((await appRequest(String(app["url"]))).text).toBe("Hello Ada");
      expect(await stillRunning(children)).toEqual([]);
      await second.end("SIGTERM");
    },
    { concurrent: true },
  );
}
