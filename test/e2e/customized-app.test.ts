import { expect, test } from "vitest";
import type { MODEL_PROVIDERS } from "../../server/drivers/language-model/ai-sdk-model.ts";
import { openScriptedModel, type ScriptedResponse } from "../support/documents/scripted-model.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness } from "../support/service/harness.ts";

const HEADING = { path: "src/page.ts", old_string: "<h1>Guestbook</h1>", new_string: "<h1>Hello Ada</h1>" };
const call = (tool: string, input: object = {}): ScriptedResponse => ({ tool, input });

async function openCustomizing(provider: (typeof MODEL_PROVIDERS)[number] = "openai-compatible") {
  const model = await openScriptedModel();
  const builderModel = { provider, name: "scripted", baseUrl: model.url, apiKey: "model-key" };
  const harness = await createHarness({ worker: true, sharesBuilds: true, config: { builderModel } });
  return {
    model,
    harness,
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test.each(["openai-compatible", "anthropic"] as const)(
  "the app builder agent changes the heading of the guestbook, with a model of %s",
  async (provider) => {
    await using opened = await openCustomizing(provider);
    const { model, harness } = opened;
    model.respond(
      call("read_file", { path: "src/page.ts" }),
      call("edit_file", HEADING),
      call("run_build"),
      "The heading says Hello Ada. Nothing else is changed.",
    );
    const tenant = await harness.tenant();
    const customization = "make the heading say Hello Ada";
    const { body } = await tenant.rest.deploy({ repo: "examples/guestbook", customization });
    const id = String(body["app_id"]);
    const { body: app } = await harness.waitForStatus(tenant, id);
    const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
    expect([app["status"], log["logs"]]).toEqual(["ready", expect.stringContaining("[service] edit src/page.ts\n")]);
    expect((await appRequest(String(app["url"]))).text).toContain("<h1>Hello Ada</h1>");
    expect(JSON.stringify(log)).not.toContain("model-key");
  },
);
