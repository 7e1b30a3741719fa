import path from "node:path";
import type { KnowledgeAnswer } from "../domain/knowledge/search-knowledge.ts";
import { type AnswerQuestion, readAnswerCollection } from "./answer-quality/answer-collection.ts";
import { type BenchContext, formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { readRepositoryFile } from "./support/repository-files.ts";
import { callRest, type RestClient } from "./support/rest-client.ts";
import { createScratchDatabase } from "./support/scratch-database.ts";
import { startService } from "./support/start-servers.ts";

/** Bare repositories, so that they are not cloned for each run. */
const FOLDER = process.env["BENCH_REPOSITORIES"];
/** `development`: prints the questions with which rules are chosen and that are not answered right. */
const PART = process.env["BENCH_ANSWERS"];
const TARGETS = { right: 0.8, refused: 0.9, wrong: 0.05 };

export const answerQuality: Section = {
  name: "answer-quality",
  title: "Quality of answers",
  method:
    "Documents of public repositories, which are named with their commits in `bench/answer-quality` and fetched: handbooks, policies, licences and manuals in ten languages. All of them are in one organization, and people ask about them as employees and customers do; the documents do not answer a third of the questions. Without a language model and without embeddings. *Right:* the first line of the answer has the expected words of the document. *Refused:* `answer` is `null`. *Wrong and certain:* another first line, or an answer to a question that the documents do not answer, with the confidence `high`. Rules are chosen with two thirds of the documents; the figures are those of the others.",
  async measure(context) {
    const asked = await measureAnswers(context);
    const heldOut = asked.filter(({ isHeldOut }) => isHeldOut);
    const development = asked.filter((question) => !heldOut.includes(question));
    if (PART === "development") printMisses(development, context.log);
    return { metrics: toMetrics(heldOut), notes: [describeKinds(heldOut), describeShares(development)] };
  },
};

interface AskedQuestion extends AnswerQuestion {
  found: KnowledgeAnswer;
}

async function measureAnswers({ signal, folder, log }: BenchContext): Promise<AskedQuestion[]> {
  await using database = await createScratchDatabase();
  await using service = await startService({ databaseUrl: database.url, dataDirectory: folder }, signal);
  const { api_key: token } = await service.call("createOrganization");
  const rest: RestClient = { url: await service.call("publicUrl"), token, signal };
  const collection = await readAnswerCollection();
  for (const document of collection.documents) {
    const commit = collection.commits.get(document.repository) ?? "";
    const content = await readRepositoryFile({ ...document, commit }, FOLDER ?? path.join(folder, "repositories"));
    const file = { name: `${document.repository}/${document.path}`, content: content.toString("base64") };
    await callRest(rest, "/v1/knowledge/documents", { kind: "policy", file });
  }
  log(`${formatInteger(collection.documents.length)} documents are stored`);
  const asked: AskedQuestion[] = [];
  for (const question of collection.questions) {
    const search = `/v1/knowledge/search?query=${encodeURIComponent(question.text)}`;
    asked.push({ ...question, found: await callRest<KnowledgeAnswer>(rest, search) });
  }
  return asked;
}

/** Of the questions with which rules are chosen. The others stay unseen. */
function printMisses(development: readonly AskedQuestion[], log: BenchContext["log"]): void {
  for (const question of development.filter((one) => !isRight(one) && !isRefused(one)))
    log(`${question.kind} | ${question.text} | ${question.expected ?? ""} => ${describeAnswer(question)}`);
}

const firstLine = ({ found }: AskedQuestion): string => found.answer?.split("\n")[0] ?? "";

function isRight(question: AskedQuestion): boolean {
  if (question.expected === null) return false;
  const lines = [firstLine(question), question.found.citations[0]?.quote ?? ""];
  return lines.some((line) => withoutSpaces(line).includes(withoutSpaces(question.expected ?? "")));
}

/** A question without an answer in the documents that gets none. */
function isRefused({ expected, found }: AskedQuestion): boolean {
  return expected === null && found.answer === null;
}

function isWrongAndCertain(question: AskedQuestion): boolean {
  return question.found.answer !== null && question.found.confidence === "high" && !isRight(question);
}

function describeAnswer(question: AskedQuestion): string {
  const line = firstLine(question);
  return line === "" ? "no answer" : `${question.found.confidence}: ${line.slice(0, 200)}`;
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/[\s*_`]+/g, "");
}

interface Shares {
  answerable: number;
  unanswerable: number;
  right: number;
  rightAndCertain: number;
  refused: number;
  wrong: number;
}

function sharesOf(asked: readonly AskedQuestion[]): Shares {
  const answerable = asked.filter(({ expected }) => expected !== null);
  const others = asked.filter(({ expected }) => expected === null);
  const right = answerable.filter(isRight);
  return {
    answerable: answerable.length,
    unanswerable: others.length,
    right: right.length / answerable.length,
    rightAndCertain: right.filter(({ found }) => found.confidence === "high").length / answerable.length,
    refused: others.filter(isRefused).length / others.length,
    wrong: asked.filter(isWrongAndCertain).length / asked.length,
  };
}

function toMetrics(asked: readonly AskedQuestion[]): Metric[] {
  const { answerable, unanswerable, right, rightAndCertain, refused, wrong } = sharesOf(asked);
  return [
    {
      name: "Right in the first line",
      result: formatShare(right),
      target: { bound: `≥ ${formatShare(TARGETS.right)}`, met: right >= TARGETS.right },
      details: `of ${answerable} questions`,
    },
    {
      name: "Refused, of the questions without an answer",
      result: formatShare(refused),
      target: { bound: `≥ ${formatShare(TARGETS.refused)}`, met: refused >= TARGETS.refused },
      details: `of ${unanswerable} questions`,
    },
    {
      name: "Right and certain",
      result: formatShare(rightAndCertain),
      target: null,
      details: `of ${answerable} questions`,
    },
    {
      name: "Wrong and certain, of all questions",
      result: formatShare(wrong),
      target: { bound: `≤ ${formatShare(TARGETS.wrong)}`, met: wrong <= TARGETS.wrong },
      details: `of ${asked.length} questions`,
    },
  ];
}

/** The kinds of questions apart. */
function describeKinds(asked: readonly AskedQuestion[]): string {
  const answerable = asked.filter(({ expected }) => expected !== null);
  const kinds = [...Map.groupBy(answerable, ({ kind }) => kind)].map(
    ([kind, ofKind]) => `${kind} ${ofKind.filter(isRight).length} of ${ofKind.length}`,
  );
  return `Right in the first line by kind: ${kinds.join(", ")}.`;
}

function describeShares(asked: readonly AskedQuestion[]): string {
  const { right, refused, wrong } = sharesOf(asked);
  return `On the other documents, with which the rules were chosen: ${formatShare(right)} right, ${formatShare(refused)} refused, ${formatShare(wrong)} wrong and certain.`;
}

function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}
