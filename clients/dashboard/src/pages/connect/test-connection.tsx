import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { sessionQuery } from "../../session-query.ts";
import { type Token, tokensQuery } from "../../tokens-query.ts";
import { Button } from "../../ui/button.tsx";
import { DefinitionList } from "../../ui/definition-list.tsx";
import { Field } from "../../ui/field.tsx";
import { Alert, ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/quantities.ts";
import { callGateway, GatewayProblem, type GatewayView } from "./call-gateway.ts";

interface Connection extends GatewayView {
  /** `null` for a token of another user or another organization. */
  token: Token | null;
  user: string;
}

/**
 * Calls the gateway as a client would, and shows what the client would see.
 *
 * @param props.created - the token that was created on this page
 */
export function TestConnection({ created }: { created: string | null }) {
  const [pasted, setPasted] = useState("");
  const token = pasted === "" ? (created ?? "") : pasted.trim();
  const test = useTest();
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    test.mutate(token);
  };
  return (
    <Panel
      title="Test the connection"
      intro="Connects to the gateway with a token, as a client does, and shows what the client would see."
    >
      <form className="grid items-end gap-3 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
        <Field
          label="Token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required={created === null}
          placeholder={created === null ? "svp_…" : "The token created above"}
          value={pasted}
          onChange={({ currentTarget }) => setPasted(currentTarget.value)}
        />
        <Button type="submit" busy={test.isPending}>
          {test.isPending ? "Testing…" : "Test"}
        </Button>
      </form>
      {test.error instanceof GatewayProblem ? <Alert>{test.error.message}</Alert> : <ErrorNotice error={test.error} />}
      {test.data !== undefined && <Result connection={test.data} />}
    </Panel>
  );
}

function useTest() {
  const { id: orgId } = useOrganization();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (token: string): Promise<Connection> => {
      const view = await callGateway(token);
      const { tokens } = await client.fetchQuery({ ...tokensQuery(orgId), staleTime: 0 });
      const session = await client.fetchQuery(sessionQuery);
      return {
        ...view,
        token: tokens.find(({ kind, prefix }) => kind !== "api_key" && token.startsWith(prefix)) ?? null,
        user: session === null ? "" : `${session.user.name} (${session.user.email})`,
      };
    },
  });
}

function Result({ connection: { token, user, tools, server, protocol } }: { connection: Connection }) {
  const { name: organization } = useOrganization();
  return (
    <Notice>
      <p className="font-medium text-success">Connected: {formatCount(tools.length, "tool")}</p>
      <div className="mt-2">
        <DefinitionList entries={describe({ token, user, server, protocol }, organization)} />
      </div>
      <details className="mt-3">
        <summary>Names of the tools</summary>
        <ul className="mt-2 gap-x-6 sm:columns-2">
          {tools.map((tool) => (
            <li key={tool} className="wrap-anywhere">
              <code>{tool}</code>
            </li>
          ))}
        </ul>
      </details>
    </Notice>
  );
}

function describe(
  { token, user, server, protocol }: Omit<Connection, "tools">,
  organization: string,
): (readonly [string, string])[] {
  const last = ["Server", `${server}, MCP ${protocol}`] as const;
  if (token === null)
    return [
      ["As", "A token that is not one of yours in this organization"],
      ["Organization", "Another one, or that of another user"],
      last,
    ];
  const isOwn = token.kind === "personal_access_token";
  return [
    ["As", isOwn ? user : `The agent with the gateway token ${token.name}`],
    ["Token", `${token.name}, permissions: ${token.scope}`],
    ["Organization", organization],
    last,
  ];
}
