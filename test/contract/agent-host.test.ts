import { openScriptedHost } from "../support/agents/scripted-host.ts";
import { describeAgentHostContract } from "./agent-host.ts";

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
