import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { ClientResult, RealClient } from "./real-client.ts";

const FILE = path.join(import.meta.dirname, "..", "..", "docs", "clients.md");

type Way = "token" | "oauth";

interface Outcome {
  /** `null` if the client connected and called the tool. */
  failure: string | null;
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
      const [failure = ""] = (error as Error).message.split("\n");
      this.#outcomes.set(key, { failure, called: "" });
      throw error;
    }
  }

  async write(): Promise<void> {
    const rows = this.#clients.map((client) => {
      const [byToken, byOAuth] = [
        this.#outcomes.get(`${client.name} token`),
        this.#outcomes.get(`${client.name} oauth`),
      ];
      const called = byToken?.called || byOAuth?.called || "nothing";
      return `| ${client.name} | ${client.version} | ${cell(byToken)} | ${cell(byOAuth)} | ${called} |`;
    });
    const content = `${header()}\n${rows.join("\n")}\n`;
    process.stdout.write(`\n${content}\n`);
    // A filtered run replaces no complete page.
    if (this.#outcomes.size === this.#clients.length * 2) await writeFile(FILE, content);
  }
}

function cell(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "not run";
  return outcome.failure === null ? "works" : `fails: ${outcome.failure.replaceAll("|", "\\|").slice(0, 200)}`;
}

function header(): string {
  return `# MCP clients

\`npm run test:clients\` wrote this page on ${new Date().toISOString().slice(0, 10)}. Do not edit it.

The test installs each client from npm into a temporary folder, and runs it against a service with default settings: embedded
database, loopback addresses. Each client has its own home folder.

- **Token**: the client sends a personal access token in a header.
- **OAuth**: the client knows only the URL of the gateway. It registers and opens a browser, in which the test signs in and
  allows access.

A client works if it lists the tools, calls \`service_list_apps\` and receives the app that the organization has. A client that
calls tools only for a model gets a scripted model on a loopback address, which asks for one call.

| Client | Version | Token | OAuth | Calls |
|---|---|---|---|---|`;
}
