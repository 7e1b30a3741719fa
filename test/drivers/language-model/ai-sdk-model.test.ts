import { afterAll, beforeAll, expect, test } from "vitest";
import { AiSdkModel, type ModelSettings } from "../../../server/drivers/language-model/ai-sdk-model.ts";
import { startLoopbackServer } from "../../support/loopback-server.ts";
import { openScriptedModel, type ScriptedModel } from "../../support/documents/scripted-model.ts";

let endpoint: ScriptedModel;

beforeAll(async () => {
  endpoint = await openScriptedModel();
});
afterAll(() => endpoint[Symbol.asyncDispose]());

const REQUEST = { instructions: "Answer.", prompt: '{"question":"?"}', maxTokens: 99, maxBytes: 10_000 };

function model(provider: ModelSettings["provider"], timeoutMs = 10_000): AiSdkModel {
  return new AiSdkModel({ provider, name: "model-1", baseUrl: endpoint.url, apiKey: "key-1" }, timeoutMs);
}

test("an OpenAI-compatible endpoint gets the instructions, the data and the key, and its text is returned", async () => {
  endpoint.respond("An answer");
  expect(await model("openai-compatible").generate(REQUEST)).toBe("An answer");
  const { path, headers, body } = endpoint.calls.at(-1)!;
  expect([path, headers.authorization]).toEqual(["/v1/chat/completions", "Bearer key-1"]);
  expect(body).toMatchObject({
    model: "model-1",
    max_tokens: 99,
    messages: [
      { role: "system", content: "Answer." },
      { role: "user", content: REQUEST.prompt },
    ],
  });
});

test("an endpoint of Anthropic gets the instructions, the data and the key, and its text is returned", async () => {
  endpoint.respond("An answer");
  expect(await model("anthropic").generate(REQUEST)).toBe("An answer");
  const { path, headers, body } = endpoint.calls.at(-1)!;
  expect([path, headers["x-api-key"]]).toEqual(["/v1/messages", "key-1"]);
  expect(body).toMatchObject({
    model: "model-1",
    max_tokens: 99,
    system: [{ type: "text", text: "Answer." }],
    messages: [{ role: "user", content: [{ type: "text", text: REQUEST.prompt }] }],
  });
});

test.each(["openai-compatible", "anthropic"] as const)("an error of an %s endpoint is thrown", async (provider) => {
  endpoint.respond(401);
  await expect(model(provider).generate(REQUEST)).rejects.toThrow(/scripted|Unauthorized/);
});

test.each(["openai-compatible", "anthropic"] as const)(
  "an %s endpoint that does not respond is left",
  async (provider) => {
    endpoint.respond(null);
    await expect(model(provider, 200).generate(REQUEST)).rejects.toThrow(/abort|timeout/i);
  },
);

test.each(["openai-compatible", "anthropic"] as const)(
  "the body of an %s endpoint is read up to the bound of the caller, also if it has no end",
  async (provider) => {
    let sent = 0;
    await using server = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(1000))) sent += 1000;
      };
      response.on("drain", write);
      write();
    });
    const endless = new AiSdkModel({ provider, name: "model-1", baseUrl: server.url, apiKey: "key-1" });
    await expect(endless.generate(REQUEST)).rejects.toThrow(/process|response/);
    // What the buffers of both sockets hold.
    expect(sent).toBeLessThan(20_000_000);
  },
);

test.each(["openai-compatible", "anthropic"] as const)(
  "a redirect of an %s endpoint is not followed",
  async (provider) => {
    const paths: (string | undefined)[] = [];
    await using server = await startLoopbackServer((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const redirecting = new AiSdkModel({ provider, name: "model-1", baseUrl: server.url, apiKey: "key-1" });
    await expect(redirecting.generate(REQUEST)).rejects.toThrow(/redirect|connect|fetch/i);
    expect(paths).not.toContain("/elsewhere");
  },
);
