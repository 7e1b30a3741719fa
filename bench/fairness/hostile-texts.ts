import { setTimeout as sleep } from "node:timers/promises";
import { type HostileAct, type HostileCaller, repeatInParallel, sendAs } from "./hostile-act.ts";
import { MODEL_WORDS, type ModelWord } from "./hostile-endpoints.ts";
import { mainAgent } from "./hostile-writes.ts";

const MEMORIES = 50;
const SEARCHES = 200;
const PARALLEL = 20;
/** As many as a plan allows by default. */
const GATEWAYS = 20;
/** Longer than a gateway is asked for its list for the first time. */
const GATEWAYS_MS = 20_000;

async function searchWith(caller: HostileCaller, word: ModelWord): Promise<void> {
  const document = { title: "Words", kind: "policy", content: MODEL_WORDS.join(" ") };
  await sendAs(caller, "POST", "/v1/knowledge/documents", JSON.stringify(document));
  const before = caller.endpoints.modelCalls;
  await repeatInParallel(SEARCHES, PARALLEL, () => sendAs(caller, "GET", `/v1/knowledge/search?query=${word}`));
  if (caller.endpoints.modelCalls === before && !caller.signal.aborted)
    throw new Error("No search has reached the model");
}

const MODEL_ACTS = {
  spaces: "answers of a model with 100,000 spaces",
  sentences: "answers of a model with 200,000 sentences",
  endless: "answers of a model without an end",
  redirect: "redirects of a model",
} satisfies Record<ModelWord, string>;

/** Texts that a pattern or a parser could need long for: memories, answers of a model, and lists of gateways. */
export const hostileTexts: readonly HostileAct[] = [
  {
    name: `${MEMORIES} memories of 3,990 ellipses`,
    run: async (caller) => {
      const path = `/v1/agents/${await mainAgent(caller)}/memories`;
      await repeatInParallel(MEMORIES, MEMORIES, (n) =>
        sendAs(caller, "POST", path, JSON.stringify({ content: `a${"\u2026".repeat(3990)}b${n}`, kind: "preference" })),
      );
    },
  },
  ...MODEL_WORDS.map((word) => ({
    name: `${SEARCHES} ${MODEL_ACTS[word]}`,
    run: (caller: HostileCaller) => searchWith(caller, word),
  })),
  {
    name: `${GATEWAYS} gateways with invalid lists of 7 MiB`,
    run: async (caller) => {
      const ids: string[] = [];
      await repeatInParallel(GATEWAYS, GATEWAYS, async (n) => {
        const server = { name: `Gateway ${n}`, kind: "openclaw", url: caller.endpoints.gatewayUrl, token: "token" };
        const { status, text } = await sendAs(caller, "POST", "/v1/servers", JSON.stringify(server));
        if (status === 201) ids.push((JSON.parse(text) as { server_id: string }).server_id);
      });
      await sleep(GATEWAYS_MS, undefined, { signal: caller.signal }).catch(() => undefined);
      if (caller.endpoints.lists === 0 && !caller.signal.aborted) throw new Error("No list of a gateway was read");
      for (const id of ids) await sendAs(caller, "DELETE", `/v1/servers/${id}`);
    },
  },
];
