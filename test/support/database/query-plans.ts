import pg from "pg";
import { vi } from "vitest";

export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
}

/** All nodes of a plan. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** How many rows of its table a scan read. */
export function rowsRead(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}

interface Statement {
  text: string;
  values: unknown[];
}

/**
 * Makes a call, and returns the plan of each of its statements that reads or writes one of the tables. They run again for it,
 * in a transaction with the same settings, which is rolled back.
 */
export async function explainCall(
  databaseUrl: string,
  tables: readonly string[],
  call: () => Promise<unknown>,
): Promise<PlanNode[]> {
  const statements = await recordStatements(call);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("begin");
    const plans: PlanNode[] = [];
    for (const { text, values } of statements) {
      if (text.includes("set_config(")) await client.query(text, values);
      // An insert reads nothing, and the call has done it already.
      else if (!text.startsWith("insert") && tables.some((table) => new RegExp(String.raw`\b${table}\b`).test(text)))
        plans.push(await explain(client, { text, values }));
    }
    return plans;
  } finally {
    await client.end();
  }
}

async function explain(client: pg.Client, { text, values }: Statement): Promise<PlanNode> {
  const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  return rows[0]!["QUERY PLAN"][0]!.Plan;
}

/** Records what the process sends to its databases during a call. */
async function recordStatements(call: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const spy = vi.spyOn(pg.Client.prototype, "query");
  try {
    await call();
    for (const [config, values] of spy.mock.calls as unknown as [string | Partial<Statement>, unknown][]) {
      const given = typeof config === "string" ? values : (config.values ?? values);
      const text = typeof config === "string" ? config : (config.text ?? "");
      statements.push({ text, values: Array.isArray(given) ? given : [] });
    }
  } finally {
    spy.mockRestore();
  }
  return statements;
}
