import { readFile } from "node:fs/promises";
import type { Collection, CollectionDocument, Judgment } from "./collection.ts";

const FILES = ["policies", "pricing", "brand", "procedures", "faqs"] as const;

/** Reads the documents of an imaginary company, and what its employees ask. The id of a document is its title. */
export async function readCompanyCollection(): Promise<Collection> {
  const texts = await Promise.all(FILES.map((name) => read(`company/${name}.md`)));
  return {
    name: "company",
    documents: texts.flatMap((text) => splitBlocks(text, /^(?=# )/m).map(readDocument)),
    ...(await readQuestions("company/questions.txt")),
  };
}

/** @param file - relative to this folder */
export async function readQuestions(file: string): Promise<Pick<Collection, "questions" | "judgments">> {
  const questions = splitBlocks(await read(file), /^(?=\S)/m).map(readQuestion);
  return {
    questions: questions.map(({ id, text }) => ({ id, text })),
    judgments: questions.flatMap(({ judgments }) => judgments),
  };
}

function read(file: string): Promise<string> {
  return readFile(new URL(file, import.meta.url), "utf8");
}

function splitBlocks(text: string, before: RegExp): string[] {
  return text.split(before).filter((block) => block.trim() !== "");
}

function readDocument(block: string): CollectionDocument {
  const [heading = "", ...lines] = block.split("\n");
  const title = heading.replace(/^# /, "");
  return { id: title, title, body: lines.join("\n").trim() };
}

/** A question, followed by a line for each document that answers it: 2 for an answer, 1 for a part of it. */
function readQuestion(block: string, index: number): { id: string; text: string; judgments: Judgment[] } {
  const [text = "", ...lines] = block.trim().split("\n");
  const id = String(index + 1);
  const judgments = lines.map((line) => {
    const [, grade, document = ""] = /^ *(\d) (.*)$/.exec(line) ?? [];
    return { question: id, document, grade: Number(grade) };
  });
  return { id, text, judgments };
}
