import { readFile } from "node:fs/promises";
import type { Conversation, ConversationQuestion, ConversationTurn, ReadFile } from "./conversation.ts";

interface Exchange {
  query: string;
  response: string;
}

type Bank = Record<string, { history: Record<string, Exchange[]> }>;

const ASSISTANT = "AI companion";
/** Every third user. */
const HELD_OUT = 3;
const MINUTE_MS = 60_000;

/** Reads what 15 users say to an assistant on ten days, and which of it answers the questions of the repository. */
export async function readMemoryBank(read: ReadFile): Promise<Conversation[]> {
  const bank = JSON.parse(await read("eval_data/en/memory_bank_en.json")) as Bank;
  const lines = (await read("eval_data/en/probing_questions_en.jsonl"))
    .split("\n")
    .filter((line) => line.trim() !== "");
  const questions = new Map(lines.flatMap((line) => Object.entries(JSON.parse(line) as Record<string, string[]>)));
  const evidence = await readEvidence();
  return Object.entries(bank).map(([name, { history }], index) => {
    const user = name.trim();
    const asked = evidence.get(user) ?? [];
    return {
      collection: "MemoryBank",
      turns: Object.entries(history).flatMap(([date, exchanges], day) => readDay(user, date, day, exchanges)),
      questions: asked.map(({ number, turns }) => ({ text: questions.get(user)?.[number] ?? "", evidence: turns })),
      isHeldOut: index % HELD_OUT === HELD_OUT - 1,
    };
  });
}

function readDay(user: string, date: string, day: number, exchanges: readonly Exchange[]): ConversationTurn[] {
  // The questions name days without a year, which are then the last such days.
  const at = new Date(`${new Date().getUTCFullYear()}${date.slice(4)}T12:00:00Z`);
  if (at > new Date()) at.setUTCFullYear(at.getUTCFullYear() - 1);
  return exchanges.flatMap(({ query, response }, number) => {
    const said = new Date(at.getTime() + number * MINUTE_MS);
    return [
      { id: `${day}:${number}q`, content: `${user}: ${query}`, at: said },
      { id: `${day}:${number}r`, content: `${ASSISTANT}: ${response}`, at: said },
    ];
  });
}

async function readEvidence(): Promise<Map<string, { number: number; turns: ConversationQuestion["evidence"] }[]>> {
  const text = await readFile(new URL("memory-bank-evidence.txt", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const answered = lines.map((line) => {
    const [user = "", number = "", turns = ""] = line.split(" | ");
    return { user, number: Number(number), turns: turns.split(" ") };
  });
  return Map.groupBy(answered, ({ user }) => user);
}
