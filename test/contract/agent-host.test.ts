import { ManagedHost } from "../../domain/managed-agents/managed-host.ts";
import type { NewEntry } from "../../domain/sessions/transcript-entry.ts";
import { openScriptedHost } from "../support/agents/scripted-openclaw-host.ts";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import { listServers } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { requires, skillsOf } from "../support/service/skills.ts";
import { describeAgentHostContract } from "./agent-host.ts";

const service = sharedHarness();

/** A message, a tool call with its result, and a response. */
const ENTRIES: NewEntry[] = [
  { id: "m1", role: "user", content: "read AGENTS.md" },
  { id: "m2", role: "assistant", content: '{"path":"AGENTS.md"}', tool: { name: "read", call_id: "c1" } },
  { id: "m3", role: "tool", content: "# Rules", tool: { name: "read", call_id: "c1" } },
  {
    id: "m4",
    role: "assistant",
    content: "It says: Rules",
    usage: { input: 5, output: 7, cache_read: 11, cache_write: 0 },
  },
];

describeAgentHostContract("managed", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const [server] = await listServers(rest);
  const { server_id: id, agent: main } = server!;
  const other = (await rest.post("/v1/agents", { server_id: id, name: "Sales" })).body;
  const otherId = String(other["agent_id"]);
  const opened = await givenSession(rest, { title: "Rules", entries: ENTRIES });
  for (const agentId of [main.agent_id, otherId, otherId])
    await givenSession(rest, { agentId, entries: sampleEntries(2) });
  const skills = skillsOf(rest);
  await skills.uploadDocument("writing", {}, { agent_ids: [main.agent_id] });
  await skills.uploadDocument("video", { frontmatter: requires({ requires: { bins: ["ffmpeg"] } }) });
  const { orm, db } = service().service.parts;
  return {
    host: new ManagedHost({ em: orm.em, db }, { id, orgId }),
    mainId: main.agent_id,
    otherId,
    sessionId: opened.session_id,
    transcript: ENTRIES.map(({ role, content, tool }) => ({
      role,
      content,
      ...(tool !== undefined && { tool: tool.name }),
    })),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
});

describeAgentHostContract("openclaw, with a scripted gateway", async () => {
  const { host, gateway, [Symbol.asyncDispose]: close } = await openScriptedHost();
  gateway.state.files["main"] = "# Rules\n";
  return {
    host,
    mainId: "main",
    otherId: "sales",
    sessionId: "agent:main:main",
    transcript: [
      { role: "user", content: "hello there" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "read AGENTS.md" },
      { role: "assistant", content: "Looking." },
      { role: "assistant", content: '{"path":"AGENTS.md"}', tool: "read" },
      { role: "tool", content: "# Rules", tool: "read" },
      { role: "assistant", content: "It says: Rules" },
    ],
    [Symbol.asyncDispose]: close,
  };
});
