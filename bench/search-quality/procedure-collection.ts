import { readFile } from "node:fs/promises";
import type { SearchableProcedure } from "../../domain/procedures/indexed-procedures.ts";
import type { Collection } from "./collection.ts";
import { readQuestions } from "./company-collection.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string }[];
  requestBody?: { content?: Record<string, { schema?: Record<string, unknown> }> };
}

export interface ProcedureCollection extends Omit<Collection, "documents"> {
  procedures: SearchableProcedure[];
}

/** Reads the service's own operations, as if they were the procedures of apps, and what agents ask. Their ids are their names. */
export async function readProcedureCollection(): Promise<ProcedureCollection> {
  const file = new URL("../../docs/openapi.json", import.meta.url);
  const { paths } = JSON.parse(await readFile(file, "utf8")) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const questions = await readQuestions("procedures/questions.txt");
  return { name: "procedures", procedures: operations.flatMap(toProcedure), ...questions };
}

function toProcedure({ operationId, summary, description, tags, parameters, requestBody }: Operation) {
  if (operationId === undefined) return [];
  const app = tags?.[0] ?? "";
  const body = requestBody?.content?.["application/json"]?.schema ?? {};
  const properties = Object.fromEntries((parameters ?? []).map(({ name }) => [name, {}]));
  return [
    {
      name: operationId.replace("-", "."),
      description: `${summary ?? ""}. ${description ?? ""}`,
      inputSchema: { allOf: [{ properties }, body] },
      app,
      slug: app.toLowerCase().replaceAll(" ", "-"),
    },
  ];
}
