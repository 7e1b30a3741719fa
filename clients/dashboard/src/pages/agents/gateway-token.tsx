import { useState } from "react";
import { clientConfigurations } from "../../../../../domain/agents/client-configurations.ts";
import { Select } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";

const CLIENTS = [
  ["claude_code", "Claude Code"],
  ["codex", "Codex"],
  ["openclaw", "OpenClaw"],
  ["generic", "Other MCP client"],
] as const;

/**
 * A new gateway token, and the configuration of the client that uses it.
 *
 * @param props.name - of the agent
 */
export function GatewayToken({ name, token }: { name: string; token: string }) {
  const [client, setClient] = useState<(typeof CLIENTS)[number][0]>("claude_code");
  const { file, content } = clientConfigurations(`${location.origin}/mcp`, token)[client];
  return (
    <Notice variant="success">
      <div className="space-y-4">
        <SecretValue label={`${name}: copy the gateway token now. It is not shown again.`} value={token} />
        <Select
          label="Client of the agent"
          options={CLIENTS}
          value={client}
          onChange={({ target }) => setClient(target.value as typeof client)}
        />
        <p>
          Add this to <code className="wrap-anywhere">{file}</code>:
        </p>
        <Preformatted label="Configuration of the client" text={content} />
      </div>
    </Notice>
  );
}
