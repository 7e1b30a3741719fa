import { type Contenders, openContenders, type Sides } from "./gateway/compared-gateways.ts";
import type { Side } from "./gateway/compared-request.ts";
import type { Measured } from "./processes/generate-load.ts";
import { round } from "./support/format-number.ts";
import { interleave } from "./support/measure-alternately.ts";
import { scratchDatabase } from "./support/scratch-database.ts";
import type { Bench, Figure, Section } from "./support/bench-section.ts";
import { compare, median } from "./support/statistics.ts";

const CONNECTIONS = 16;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 11;
const SECONDS = 1;
const APPS = 20;

interface Race {
  what: string;
  ours: keyof Sides;
  theirs: keyof Sides;
  /** The least that our requests per second may be, as a multiple of the others'. */
  target: number | null;
}

const RACES: readonly Race[] = [
  { what: "`tools/call`, of a bare `McpServer`'s", ours: "call", theirs: "mcpServerCall", target: 2 },
  { what: "`tools/call`, of a bare `Server`'s", ours: "call", theirs: "minimalCall", target: null },
  { what: "`tools/call`, of the REST call's for the same data", ours: "call", theirs: "rest", target: 0.6 },
  { what: "`tools/call`, of `server-everything`'s `echo`", ours: "call", theirs: "echo", target: null },
  { what: "`tools/list`, of a bare `McpServer`'s", ours: "list", theirs: "mcpServerList", target: 1 },
  { what: "`tools/list`, of a bare `Server`'s", ours: "list", theirs: "minimalList", target: null },
  {
    what: "`tools/call` of 2026-07-28, of a bare `McpServer`'s",
    ours: "modern",
    theirs: "mcpServerModern",
    target: null,
  },
];

export const gateway: Section = {
  name: "gateway",
  title: "The tool gateway",
  method: `\`POST /mcp\` with \`tools/call service_list_apps\`, and with \`tools/list\`, on Postgres, each organization with ${APPS} apps. Against servers of the same SDK that have nothing behind them: on \`node:http\`, without authentication, database and limits, with one tool only, of the same schemas and the same answer; a new \`McpServer\` for each request, which validates as ours does, or a new \`Server\`, which does not; its transport, as ours, in its JSON form. Against \`GET /v1/apps\` of the same organizations. And against \`echo\` of \`@modelcontextprotocol/server-everything\` with a session for each connection. Ours asks the database with every request whether what it answered last has changed. An organization has a limited number of calls a minute, so the requests go round organizations enough for none to reach it; the others are sent the same headers. Each server is a process of its own, and so is the load. ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s a side, after ${WARM_UP_ROUNDS} that do not count.`,
  async measure(bench) {
    await using database = await scratchDatabase();
    const stage = { databaseUrl: database.url, apps: APPS, connections: CONNECTIONS };
    await using contenders = await openContenders(bench, stage);
    const figures: Figure[] = [];
    for (const race of RACES) figures.push(await run(race, contenders, bench));
    return { figures, notes: [`The database: PostgreSQL ${database.version}.`, sizesOf(contenders.sides)] };
  },
};

async function run({ what, ours, theirs, target }: Race, contenders: Contenders, { say }: Bench): Promise<Figure> {
  const measured = { ours: [] as Measured[], theirs: [] as Measured[] };
  const measure = (side: Side, into: Measured[]) => async () => {
    const one = await contenders.fire(side, SECONDS);
    say(`${side.name}: ${inWords(one)}`);
    into.push(one);
    return one.requestsPerSecond;
  };
  const [us, them] = [contenders.sides[ours], contenders.sides[theirs]];
  await interleave(WARM_UP_ROUNDS, { ours: measure(us, []), theirs: measure(them, []) });
  const { ratio } = compare(
    await interleave(ROUNDS, { ours: measure(us, measured.ours), theirs: measure(them, measured.theirs) }),
  );
  return {
    what: `Requests/s, ${what}`,
    measured: ratio.toFixed(2),
    target: target === null ? null : { bound: `≥ ${target}`, met: ratio >= target },
    detail: `${inWords(middle(measured.ours))}; ${them.name} ${inWords(middle(measured.theirs))}`,
  };
}

function sizesOf({ call, list, minimalList, rest, echo }: Sides): string {
  const sizes = [
    `\`tools/call\` ${round(call.answerLength)}`,
    `REST ${round(rest.answerLength)}`,
    `\`tools/list\` ${round(list.answerLength)}`,
    `that of one tool ${round(minimalList.answerLength)}`,
    `\`echo\` ${round(echo.answerLength)}`,
  ];
  return `Characters of the answers: ${sizes.join(", ")}.`;
}

function middle(all: readonly Measured[]): Measured {
  const of = (field: keyof Measured) => median(all.map((one) => one[field]));
  return { requestsPerSecond: of("requestsPerSecond"), p50Ms: of("p50Ms"), p99Ms: of("p99Ms") };
}

function inWords({ requestsPerSecond, p50Ms, p99Ms }: Measured): string {
  return `${round(requestsPerSecond)} requests/s (p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms)`;
}
