import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createOpenApiDocument } from "../../server/rest/openapi.ts";

test("docs/openapi.json is the document of the current routers", async () => {
  const stored: unknown = JSON.parse(await readFile(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
  expect(JSON.parse(JSON.stringify(createOpenApiDocument("http://127.0.0.1:3000")))).toEqual(stored);
});

test("every tag of the document is declared once, and every declared tag is used", () => {
  const { tags, paths } = createOpenApiDocument("http://127.0.0.1:3000") as {
    tags: { name: string }[];
    paths: Record<string, Record<string, { tags?: string[] }>>;
  };
  const used = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ tags: names }) => names ?? []));
  expect(tags.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
});
