import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isRecord, parseJson } from "../../domain/shared/json.ts";

export interface AnswerQuestion {
  /** `none`: the documents do not answer the question. */
  kind: string;
  text: string;
  /** Words of the document that the first line of a right answer has; `null` when the documents do not answer the question. */
  expected: string | null;
  /** Whether the question is looked at only at the end, when all rules have been chosen with the others. */
  isHeldOut: boolean;
}

export interface SourceDocument {
  repository: string;
  path: string;
}

export interface AnswerCollection {
  documents: SourceDocument[];
  questions: AnswerQuestion[];
  /** The commit of each repository. */
  commits: ReadonlyMap<string, string>;
}

/** Of the first byte of the hash of a document: lower ones, about a third, are held out. */
const HELD_OUT = 105;

/** Reads which documents of which repositories the collection has, and what is asked about them. */
export async function readAnswerCollection(): Promise<AnswerCollection> {
  const [text, json] = await Promise.all([read("questions.txt"), read("repositories.json")]);
  const parsed = parseJson(json);
  const commits = new Map(
    Object.entries(isRecord(parsed) ? parsed : {}).map(([name, commit]) => [name, String(commit)]),
  );
  const blocks = text.split(/^# /m).slice(1);
  const parts = blocks.map((block) => {
    const [heading = "", ...lines] = block.trim().split("\n");
    const [repository = "", file = ""] = heading.split(" ");
    const hash = createHash("sha256").update(`${repository}/${file}`).digest();
    const isHeldOut = (hash[0] ?? 0) < HELD_OUT;
    const questions = lines.map((line): AnswerQuestion => {
      const [kind = "", question = "", expected = null] = line.split(" | ");
      return { kind, text: question, expected, isHeldOut };
    });
    return { document: { repository, path: file }, questions };
  });
  return {
    documents: parts.map(({ document }) => document),
    questions: parts.flatMap(({ questions }) => questions),
    commits,
  };
}

function read(file: string): Promise<string> {
  return readFile(new URL(file, import.meta.url), "utf8");
}
