import { readFile } from "node:fs/promises";
import path from "node:path";
import { openDatabase } from "../server/database/open-database.ts";
import { createLogger } from "../server/telemetry/logger.ts";
import type { Conversation, ReadFile } from "./memory-recall/conversation.ts";
import { indexWithMiniSearch, type Recall, storeConversation } from "./memory-recall/engines.ts";
import { readMemoryBank } from "./memory-recall/memory-bank.ts";
import { readRealTalk } from "./memory-recall/real-talk.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { readRepositoryFile } from "./support/repository-files.ts";

/** Bare repositories, so that they are not cloned for each run. */
const FOLDER = process.env["BENCH_REPOSITORIES"];
const READERS: Record<string, (read: ReadFile) => Promise<Conversation[]>> = {
  "danny911kr/REALTALK": readRealTalk,
  "zhongwanjun/MemoryBank-SiliconFriend": readMemoryBank,
};
/** Of the recall of MiniSearch. */
const TARGET = 1.1;

export const memoryRecall: Section = {
  name: "memory-recall",
  title: "Quality of recalled memories",
  method:
    "Conversations of public repositories, which are named with their commits in `bench/memory-recall` and fetched: chats of people during three weeks (REALTALK), and what users say to an assistant on ten days (MemoryBank). Each turn is a memory of one agent, with the speaker before a colon. Without embeddings, on the embedded PostgreSQL. R@10 is the share of the turns with the answer that are among the first ten memories, as a mean over the questions. The baseline is MiniSearch with its defaults on the same texts. *At once:* all turns have just been stored. *On their days:* each has the time at which it was said. Rules are chosen with two thirds of the conversations, of other speakers; the metrics are those of the others.",
  async measure(context) {
    const measured = await measureConversations(context);
    const heldOut = measured.filter(({ isHeldOut }) => isHeldOut);
    const development = measured.filter((conversation) => !heldOut.includes(conversation));
    return { metrics: toMetrics(heldOut), notes: toMetrics(development).map(describeDevelopment) };
  },
};

/** For each question, the shares of its evidence in the first five and ten hits. */
interface Shares {
  at5: number;
  at10: number;
}

interface MeasuredConversation {
  collection: string;
  isHeldOut: boolean;
  baseline: Shares[];
  atOnce: Shares[];
  onTheirDays: Shares[];
}

async function measureConversations({ folder, log }: BenchContext): Promise<MeasuredConversation[]> {
  await using opened = await openDatabase(
    { databaseUrl: null, dataDirectory: path.join(folder, "data") },
    createLogger("silent"),
  );
  const measured: MeasuredConversation[] = [];
  for (const conversation of await readConversations(folder)) {
    const stored = await storeConversation(opened.orm, conversation);
    const { collection, isHeldOut, turns } = conversation;
    const baseline = await measureShares(conversation, indexWithMiniSearch(conversation));
    const atOnce = await measureShares(conversation, stored.recall);
    await stored.setTimes();
    const onTheirDays = await measureShares(conversation, stored.recall);
    log(`${collection}: ${formatInteger(turns.length)} turns, ${baseline.length} questions`);
    measured.push({ collection, isHeldOut, baseline, atOnce, onTheirDays });
  }
  return measured;
}

async function readConversations(folder: string): Promise<Conversation[]> {
  const json = await readFile(new URL("memory-recall/repositories.json", import.meta.url), "utf8");
  const commits = Object.entries(JSON.parse(json) as Record<string, string>);
  const repositories = FOLDER ?? path.join(folder, "repositories");
  const conversations: Conversation[] = [];
  for (const [repository, commit] of commits) {
    const read: ReadFile = async (file) =>
      (await readRepositoryFile({ repository, commit, path: file }, repositories)).toString();
    conversations.push(...((await READERS[repository]?.(read)) ?? []));
  }
  return conversations;
}

async function measureShares({ questions }: Conversation, recall: Recall): Promise<Shares[]> {
  const shares: Shares[] = [];
  for (const { text, evidence } of questions) {
    const hits = await recall(text);
    const shareAt = (cut: number): number =>
      evidence.filter((id) => hits.slice(0, cut).some((turns) => turns.has(id))).length / evidence.length;
    shares.push({ at5: shareAt(5), at10: shareAt(10) });
  }
  return shares;
}

function toMetrics(measured: readonly MeasuredConversation[]): Metric[] {
  return [...Map.groupBy(measured, ({ collection }) => collection)].flatMap(([collection, conversations]) => {
    const baseline = conversations.flatMap((conversation) => conversation.baseline);
    return (["atOnce", "onTheirDays"] as const).map((times) => {
      const ours = conversations.flatMap((conversation) => conversation[times]);
      const ratio = meanOf(ours, "at10") / meanOf(baseline, "at10");
      return {
        name: `R@10 of ${collection}, stored ${times === "atOnce" ? "at once" : "on their days"}, relative to MiniSearch`,
        result: ratio.toFixed(2),
        target: { bound: `≥ ${TARGET}`, met: ratio >= TARGET },
        details: `${format(ours)}; MiniSearch ${format(baseline)}; ${ours.length} questions`,
      };
    });
  });
}

function meanOf(shares: readonly Shares[], key: keyof Shares): number {
  return shares.reduce((sum, share) => sum + share[key], 0) / shares.length;
}

function format(shares: readonly Shares[]): string {
  return `R@5 ${meanOf(shares, "at5").toFixed(3)}, R@10 ${meanOf(shares, "at10").toFixed(3)}`;
}

function describeDevelopment({ name, result, details }: Metric): string {
  return `With the conversations with which the rules were chosen, ${name}: ${result} (${details}).`;
}
