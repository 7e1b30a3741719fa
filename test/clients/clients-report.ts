import { sanitizeLog } from "../../domain/shared/sanitize-log.ts";
import { type TestedRow, writeTestedRows } from "../support/tested-with.ts";
import type { RealClient } from "./real-client.ts";

type Way = "token" | "oauth";

const WAYS: Record<Way, string> = { token: "token", oauth: "OAuth" };

interface Failure {
  summary: string;
  /** The output of the client, or the text of the page that the user saw. */
  details: string;
}

/** Collects the result of each client, prints failures, and updates the table of docs/clients.md. */
export class ClientsReport {
  readonly #clients: readonly RealClient[];
  /** By client and way; `null` if the client connected and called the tool. */
  readonly #outcomes = new Map<string, Failure | null>();

  constructor(clients: readonly RealClient[]) {
    this.#clients = clients;
  }

  async record(client: RealClient, way: Way, connect: () => Promise<unknown>): Promise<void> {
    const key = `${client.name} ${way}`;
    try {
      await connect();
      this.#outcomes.set(key, null);
    } catch (error) {
      const failure = describeFailure(error);
      this.#outcomes.set(key, failure);
      process.stdout.write(`\n${key}: ${failure.summary}\n${failure.details}\n`);
      throw error;
    }
  }

  /** A client that a filtered run has tried in one way only keeps its row. */
  async write(): Promise<void> {
    await writeTestedRows(
      "clients.md",
      this.#clients.flatMap((client) => this.#rowOf(client) ?? []),
    );
  }

  #rowOf({ name, version, limits = [] }: RealClient): TestedRow | null {
    const outcomes = (Object.keys(WAYS) as Way[]).map(
      (way) => [WAYS[way], this.#outcomes.get(`${name} ${way}`)] as const,
    );
    if (outcomes.some(([, failure]) => failure === undefined)) return null;
    const works = outcomes.flatMap(([way, failure]) => (failure === null ? [way] : []));
    const failures = outcomes.flatMap(([way, failure]) => (failure ? [`${way} fails: ${failure.summary}`] : []));
    return { name, version, works: works.join(", "), limits: [...failures, ...limits] };
  }
}

const MAX_DETAIL_LINES = 20;
/** JSON Web Tokens, and the parameters of OAuth that are secret or differ in each run. */
const OAUTH_SECRETS = /\beyJ[\w.-]{20,}|(?<=[?&](?:code|state|code_challenge|client_id)=)[^&\s]+/g;

/** Reads the summary and the details of an error and its causes. Masks secrets, and the folders of this run. */
function describeFailure(error: unknown): Failure {
  const texts: string[] = [];
  for (let current = error; current instanceof Error; current = current.cause) texts.push(current.message);
  const text = sanitizeLog(texts.join("\n"), [])
    .replace(OAUTH_SECRETS, "[masked]")
    .replaceAll(/\/\S*\/test-\w+/g, "[folder]");
  const [summary = "", ...lines] = text.split("\n").filter((line) => line.trim() !== "");
  return { summary: summary.replace(/:$/, ""), details: lines.slice(-MAX_DETAIL_LINES).join("\n") };
}
