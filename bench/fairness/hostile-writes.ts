import { type HostileAct, type HostileCaller, repeatInParallel, sendAs } from "./hostile-act.ts";

const PARALLEL = 48;
const WRITES = 480;

const SMALL_DOCUMENT = "# Travel\n\nEmployees book trains up to 300 EUR without an approval. Flights need one.\n";

/** Returns the id of the main agent of a caller. */
export async function mainAgent(caller: HostileCaller): Promise<string> {
  const { text } = await sendAs(caller, "GET", "/v1/servers");
  const { servers } = JSON.parse(text) as { servers: { agent: { agent_id: string } }[] };
  return servers[0]?.agent.agent_id ?? "";
}

/** @throws when no write is accepted, because the act would then do nothing */
async function inParallel(caller: HostileCaller, path: string, body: (index: number) => object): Promise<void> {
  const statuses = new Set<number>();
  await repeatInParallel(WRITES, PARALLEL, async (index) => {
    statuses.add((await sendAs(caller, "POST", path, JSON.stringify(body(index)))).status);
  });
  if (![...statuses].some((status) => status >= 200 && status < 300))
    throw new Error(`Every POST ${path} was rejected: ${[...statuses].join(", ")}`);
}

/** Writes of every kind for which the requests of one organization wait for each other. */
export const hostileWrites: readonly HostileAct[] = [
  {
    name: `${PARALLEL} parallel uploads of small documents`,
    run: (caller) =>
      inParallel(caller, "/v1/knowledge/documents", (n) => ({
        title: `Policy ${n}`,
        kind: "policy",
        content: SMALL_DOCUMENT,
      })),
  },
  {
    name: `${PARALLEL} parallel memories of one agent`,
    run: async (caller) => {
      const path = `/v1/agents/${await mainAgent(caller)}/memories`;
      await inParallel(caller, path, (n) => ({
        content: `Customer ${n} prefers invoices by mail.`,
        kind: "preference",
      }));
    },
  },
  {
    name: `${PARALLEL} parallel entries of one session`,
    run: async (caller) => {
      const opened = await sendAs(
        caller,
        "POST",
        `/v1/agents/${await mainAgent(caller)}/sessions`,
        JSON.stringify({ external_id: `load-${performance.now()}` }),
      );
      const { session_id: id } = JSON.parse(opened.text) as { session_id: string };
      await inParallel(caller, `/v1/sessions/${id}/entries`, (n) => ({
        entries: [{ id: `e${n}`, role: "user", content: "Please send the invoice of May." }],
      }));
    },
  },
  {
    name: `${PARALLEL} parallel tokens`,
    run: (caller) => inParallel(caller, "/v1/tokens", (n) => ({ kind: "api_key", name: `token ${n}` })),
  },
  {
    name: `${PARALLEL} parallel projects`,
    run: (caller) =>
      inParallel(caller, "/v1/projects", (n) => ({ name: `Project ${n} ${performance.now()}`, kind: "client" })),
  },
];
