import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { insertEntries, parseLines, readEntries } from "./import/bare-import.ts";
import { type BenchContext, formatInteger, type Section, type SectionResult } from "./support/bench-section.ts";
import { measureAlternately, measureTime } from "./support/measure-alternately.ts";
import { measurePeakGrowth } from "./support/peak-growth.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { type ServiceProcess, startService } from "./support/start-servers.ts";
import { compare, median } from "./support/statistics.ts";
import { writeTranscript } from "./sample-data/write-transcript.ts";

const BYTES = 50_000_000;
const ROUNDS = 7;
const TARGET_SECONDS = 10;
const TARGET_MB = 100;

export const transcripts: Section = {
  name: "import",
  title: "Importing a transcript",
  method: `\`POST /v1/agents/{id}/sessions/import\` with a generated transcript of Claude Code of ${BYTES / 1_000_000} MB, on Postgres: thinking, texts, tool calls, and results of up to 9 KB, with the usage of a request in each of its records. The baseline is what any import has to do: \`JSON.parse\` of every line of the file, and the insertion of the same entries with \`pg\` into a table with the same columns and keys, but without the index of the search, 1,000 in each statement, in one transaction. ${ROUNDS} rounds of each side. Memory is the anonymous PSS of the service: the largest value during an import, sampled 50 times per second, less the value before it.`,
  async measure(context) {
    const { folder, signal } = context;
    const [load = 0] = loadavg();
    await using database = await createScratchDatabase();
    const file = path.join(folder, "transcript.jsonl");
    await writeTranscript(file, BYTES);
    const entries = await readEntries(file);
    const dataDirectory = path.join(folder, "data");
    await using service = await startService({ databaseUrl: database.url, dataDirectory }, signal);
    const client = await openClient(service, context);
    const importFile = async (): Promise<void> => {
      assert.equal(await client.importFile(file), entries.length);
    };
    await service.call("collectGarbage");
    const growthMb = await measurePeakGrowth(service.pid, importFile);
    await client.deleteSessions();
    await service.call("collectGarbage");
    const laterGrowthMb = await measurePeakGrowth(service.pid, importFile);
    const cpuMs: number[] = [];
    const pairs = await measureAlternately(ROUNDS, {
      service: async () => {
        await client.deleteSessions();
        const before = await service.call("cpuMs");
        const ms = await measureTime(importFile);
        cpuMs.push((await service.call("cpuMs")) - before);
        return ms;
      },
      baseline: async () => (await parseLines(file)) + (await insertEntries(database.url, entries)),
    });
    return toResult({
      ...compare(pairs),
      growthMb,
      laterGrowthMb,
      cpuMs: median(cpuMs),
      entries: entries.length,
      load,
    });
  },
};

interface Client {
  /** Returns the number of new entries. */
  importFile(file: string): Promise<number>;
  deleteSessions(): Promise<void>;
}

async function openClient(service: ServiceProcess, { signal }: BenchContext): Promise<Client> {
  const { api_key: token } = await service.call("createOrganization");
  const url = await service.call("publicUrl");
  const send = async <T>(method: string, urlPath: string, body?: Blob): Promise<T> => {
    const type = body !== undefined && { "content-type": "application/x-ndjson" };
    const headers = { authorization: `Bearer ${token}`, ...type };
    const response = await fetch(`${url}${urlPath}`, { method, headers, signal, ...(body !== undefined && { body }) });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as T;
  };
  const { servers } = await send<{ servers: { agent: { agent_id: string } }[] }>("GET", "/v1/servers");
  const agentId = servers[0]?.agent.agent_id;
  return {
    importFile: async (file) => {
      const body = await openAsBlob(file);
      const { added } = await send<{ added: number }>("POST", `/v1/agents/${agentId}/sessions/import`, body);
      return added;
    },
    deleteSessions: async () => {
      const { sessions } = await send<{ sessions: { session_id: string }[] }>("GET", "/v1/sessions");
      for (const { session_id: id } of sessions) await send("DELETE", `/v1/sessions/${id}`);
    },
  };
}

interface Measured {
  ratio: number;
  /** In milliseconds. */
  service: number;
  baseline: number;
  cpuMs: number;
  growthMb: number;
  laterGrowthMb: number;
  entries: number;
  /** The load average of the machine before the measurement. */
  load: number;
}

function toResult({
  ratio,
  service,
  baseline,
  cpuMs,
  growthMb,
  laterGrowthMb,
  entries,
  load,
}: Measured): SectionResult {
  return {
    metrics: [
      {
        name: `Import of ${BYTES / 1_000_000} MB`,
        result: `${(service / 1000).toFixed(1)} s`,
        target: { bound: `≤ ${TARGET_SECONDS} s`, met: service <= TARGET_SECONDS * 1000 },
        details: `${formatInteger(entries)} entries; CPU time of the service ${formatInteger(cpuMs)} ms`,
      },
      {
        name: "Time, relative to the baseline",
        result: ratio.toFixed(2),
        target: null,
        details: `${formatInteger(service)} ms, baseline ${formatInteger(baseline)} ms`,
      },
      {
        name: "Memory of the first import",
        result: `${formatInteger(growthMb)} MB`,
        target: { bound: `≤ ${TARGET_MB} MB`, met: growthMb <= TARGET_MB },
        details: `growth of the service; of the second import ${formatInteger(laterGrowthMb)} MB`,
      },
    ],
    notes: [
      `The first import makes V8 enlarge its young generation, which it keeps. Load average of the machine before the measurement: ${load.toFixed(1)}.`,
    ],
  };
}
