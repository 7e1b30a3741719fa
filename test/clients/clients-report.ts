import { writeFile } from "node:fs/promises";
import path from "node:path";
import { sanitizeLog } from "../../domain/shared/sanitize-log.ts";
import type { ClientResult, RealClient } from "./real-client.ts";

const FILE = path.join(import.meta.dirname, "..", "..", "docs", "clients.md");

type Way = "token" | "oauth";

interface Failure {
  summary: string;
  /** The output of the client, or the text of the page that the user saw. */
  details: string;
}

interface Outcome {
  /** `null` if the client connected and called the tool. */
  failure: Failure | null;
  called: string;
}

/** Collects the result of each client and writes docs/clients.md. */
export class ClientsReport {
  readonly #clients: readonly RealClient[];
  readonly #outcomes = new Map<string, Outcome>();

  constructor(clients: readonly RealClient[]) {
    this.#clients = clients;
  }

  async record(client: RealClient, way: Way, connect: () => Promise<ClientResult>): Promise<void> {
    const key = `${client.name} ${way}`;
    try {
      const { called } = await connect();
      this.#outcomes.set(key, { failure: null, called });
    } catch (error) {
      this.#outcomes.set(key, { failure: describeFailure(error), called: "" });
      throw error;
    }
  }

  async write(canReachInternet: boolean): Promise<void> {
    const rows = this.#clients.map((client) => {
      const [byToken, byOAuth] = [
        this.#outcomes.get(`${client.name} token`),
        this.#outcomes.get(`${client.name} oauth`),
      ];
      const called = byToken?.called || byOAuth?.called || "nothing";
      return `| ${client.name} | ${client.version} | ${cell(byToken)} | ${cell(byOAuth)} | ${called} |`;
    });
    const content = `${header(canReachInternet)}\n${rows.join("\n")}\n${this.#failures()}`;
    process.stdout.write(`\n${content}\n`);
    // A filtered run replaces no complete page.
    if (this.#outcomes.size === this.#clients.length * 2) await writeFile(FILE, content);
  }

  /** A section with the details of each failure. */
  #failures(): string {
    const sections = [...this.#outcomes].flatMap(([key, { failure }]) =>
      failure === null ? [] : [`\n## ${key}: ${failure.summary}\n\n\`\`\`text\n${failure.details}\n\`\`\`\n`],
    );
    return sections.join("");
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

function cell(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "not run";
  return outcome.failure === null ? "works" : `fails: ${outcome.failure.summary.replaceAll("|", "\\|")}`;
}

function header(canReachInternet: boolean): string {
  return `# MCP clients

\`npm run test:clients\` wrote this page on ${new Date().toISOString().slice(0, 10)}. Do not edit it.

The test installs each client from npm into a temporary folder, and runs it against a service with default settings: embedded
database, loopback addresses. Each client has its own home folder. The service ${canReachInternet ? "could" : "could not"} reach the internet.

- **Token**: the client sends a personal access token in a header.
- **OAuth**: the client knows only the URL of the gateway. It registers and opens a browser, in which the test signs in and
  allows access.

A client works if it lists the tools, calls \`service_list_apps\` and receives the app that the organization has. A client that
calls tools only for a model gets a scripted model on a loopback address, which asks for one call. \`svc mcp install\` writes
the settings of these clients.

| Client | Version | Token | OAuth | Calls |
|---|---|---|---|---|`;
}
