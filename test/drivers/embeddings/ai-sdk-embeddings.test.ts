import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TextsRejected } from "../../../domain/ports/embeddings.ts";
import { AiSdkEmbeddings, type EmbeddingsSettings } from "../../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import {
  API_KEY,
  type BadResponse,
  openScriptedEmbeddings,
  type ScriptedEmbeddings,
} from "../../support/search/scripted-embeddings.ts";

let endpoint: ScriptedEmbeddings;
beforeAll(async () => {
  endpoint = await openScriptedEmbeddings();
});
afterAll(() => endpoint[Symbol.asyncDispose]());
beforeEach(() => endpoint.fail(null));

const TEXTS = ["a secret text", "another one"];

function embed(settings: Partial<EmbeddingsSettings> = {}, timeLimitMs = 10_000): Promise<Float32Array[]> {
  return new AiSdkEmbeddings({ ...endpoint.settings, ...settings }).embed(TEXTS, { timeLimitMs });
}

test("a request has the model, the texts, and the key in a header", async () => {
  expect(await embed()).toHaveLength(2);
  const { path, headers, body } = endpoint.calls.at(-1)!;
  expect([path, headers.authorization]).toEqual(["/v1/embeddings", `Bearer ${API_KEY}`]);
  expect(body).toEqual({ model: "m", input: TEXTS, encoding_format: "float" });
});

test("with dimensions, the endpoint is asked for them, and they are part of the model's name", async () => {
  const [vector] = await embed({ dimensions: 64, apiKey: null });
  expect([vector!.length, endpoint.calls.at(-1)!.body.dimensions]).toEqual([64, 64]);
  expect(endpoint.calls.at(-1)!.headers.authorization).toBeUndefined();
  expect(new AiSdkEmbeddings({ ...endpoint.settings, dimensions: 64 }).model).toBe("m 64");
});

test("long texts are shortened, and many texts are sent in several requests", async () => {
  const before = endpoint.calls.length;
  const texts = Array.from({ length: 70 }, () => "long ".repeat(2000));
  const options = { timeLimitMs: 10_000 };
  expect(await new AiSdkEmbeddings(endpoint.settings).embed(texts, options)).toHaveLength(70);
  const inputs = endpoint.calls.slice(before).map(({ body }) => body.input);
  expect(inputs.map(({ length }) => length)).toEqual([32, 32, 6]);
  expect(Math.max(...inputs.flat().map(({ length }) => length))).toBe(4000);
});

test.each<[BadResponse, RegExp]>([
  [500, /returned status 500$/],
  [401, /returned status 401$/],
  [429, /returned status 429$/],
  ["html", /returned an invalid response$/],
  ["text", /returned an invalid response$/],
  ["too few", /returned an invalid response$/],
  ["mixed dimensions", /returned vectors with other dimensions than 256$/],
  ["zeros", /returned an invalid vector$/],
])("a response of the kind %s is an error without a text and without the key", async (bad, message) => {
  endpoint.fail(bad);
  const error = await embed().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(TextsRejected);
  expect(String(error)).toMatch(message);
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/secret text|key-of-the/);
});

test.each([400, 413, 422])("the status %i says that the endpoint does not accept the texts", async (status) => {
  endpoint.fail(status);
  await expect(embed()).rejects.toThrow(TextsRejected);
});

test("other dimensions than the configured ones are an error", async () => {
  endpoint.fail("mixed dimensions");
  await expect(embed({ dimensions: 64 })).rejects.toThrow("other dimensions than 64");
});

test("an endpoint that does not respond, or does not exist, is an error without its address", async () => {
  endpoint.fail("nothing");
  await expect(embed({}, 50)).rejects.toThrow("the embeddings endpoint did not respond in 50 ms");
  const baseUrl = "http://user:password@127.0.0.1:1/v1";
  await expect(embed({ baseUrl })).rejects.toThrow(/^the embeddings endpoint cannot be reached$/);
});
