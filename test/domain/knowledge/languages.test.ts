import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { KnowledgeAnswer } from "../../../domain/knowledge/search-knowledge.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const LANGUAGES = [
  "german",
  "french",
  "spanish",
  "portuguese",
  "italian",
  "dutch",
  "russian",
  "chinese",
  "japanese",
] as const;

const read = (name: string) => readFile(new URL(`languages/${name}`, import.meta.url), "utf8");

/** The questions of a language, each with words that the first line of its answer has. */
const readQuestions = async (language: string) => JSON.parse(await read(`${language}.json`)) as [string, string][];

async function addDocument(tenant: Tenant, language: string): Promise<string> {
  const document = { kind: "policy", content: await read(`${language}.md`) };
  return String((await tenant.rest.post("/v1/knowledge/documents", document)).body["document_id"]);
}

async function firstLine(tenant: Tenant, question: string): Promise<string> {
  const { body } = await tenant.rest.get(`/v1/knowledge/search?query=${encodeURIComponent(question)}`);
  return (body as unknown as KnowledgeAnswer).answer?.split("\n")[0] ?? "no answer";
}

/** Asks the questions of a language, and returns those whose answer is not right, with the answer. */
async function listWrong(tenant: Tenant, language: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const [question, expected] of await readQuestions(language)) {
    const line = await firstLine(tenant, question);
    if (!line.includes(expected)) wrong.push(`${question} → ${line}`);
  }
  return wrong;
}

describe.each(LANGUAGES)("%s", (language) => {
  test("ten questions are answered from a document in the language alone", async () => {
    const tenant = await service().tenant();
    await addDocument(tenant, language);
    expect(await listWrong(tenant, language)).toEqual([]);
  });

  test("ten questions in each language are answered beside a document in English", async () => {
    const tenant = await service().tenant();
    await addDocument(tenant, "english");
    await addDocument(tenant, language);
    expect(await listWrong(tenant, language)).toEqual([]);
    expect(await listWrong(tenant, "english")).toEqual([]);
  });
});

test("ten questions in each language are answered in an organization with documents in all of them", async () => {
  const tenant = await service().tenant();
  for (const language of ["english", ...LANGUAGES]) await addDocument(tenant, language);
  for (const language of ["english", ...LANGUAGES]) expect(await listWrong(tenant, language)).toEqual([]);
});

test("a deleted document in another language changes no answer", async () => {
  const tenant = await service().tenant();
  await addDocument(tenant, "english");
  const search = `/v1/knowledge/search?query=${encodeURIComponent("How much may a hotel cost?")}`;
  const before = await tenant.rest.get(search);
  const id = await addDocument(tenant, "german");
  await tenant.rest.delete(`/v1/knowledge/documents/${id}`);
  expect((await tenant.rest.get(search)).body).toEqual(before.body);
});
