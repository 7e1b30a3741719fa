import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Collection, Judgment } from "./collection.ts";

/**
 * Reads a collection in the TREC text format from a folder: `documents` with `<DOC>`, `<DOCNO>`, `<TITLE>` and `<TEXT>`,
 * `topics` with `<top>`, `<num>` and `<title>`, and `qrels` with a topic, an unused number, a document and a grade in each line.
 */
export async function readTrecCollection(folder: string): Promise<Collection> {
  const [documents, topics, qrels] = await Promise.all(
    ["documents", "topics", "qrels"].map((name) => readFile(path.join(folder, name), "utf8")),
  );
  return {
    name: path.basename(folder),
    documents: [...String(documents).matchAll(/<DOC>([^]*?)<\/DOC>/g)].map(([, document = ""]) => ({
      id: readTag(document, "DOCNO"),
      title: readTag(document, "TITLE"),
      body: readTag(document, "TEXT"),
    })),
    questions: [...String(topics).matchAll(/<top>([^]*?)<\/top>/g)].map(([, topic = ""]) => ({
      id: /<num>\s*(?:Number:)?\s*(\S+)/.exec(topic)?.[1] ?? "",
      text: unescape(/<title>\s*(?:Topic:)?([^<]*)/.exec(topic)?.[1] ?? ""),
    })),
    judgments: String(qrels).split("\n").flatMap(readJudgment),
  };
}

function readTag(text: string, tag: string): string {
  return unescape(new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1] ?? "");
}

function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").replaceAll(/\s+/g, " ").trim();
}

function readJudgment(line: string): Judgment[] {
  const [question, , document, grade] = line.trim().split(/\s+/);
  if (question === undefined || document === undefined || grade === undefined) return [];
  return [{ question, document, grade: Number(grade) }];
}
