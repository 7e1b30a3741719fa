import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { clearWorkspace } from "../../../domain/agent-workspaces/clear-workspace.ts";
import { findProgramWorkspace } from "../../../domain/agent-workspaces/find-workspace.ts";
import { listWorkspaceFiles } from "../../../domain/agent-workspaces/list-workspace-files.ts";
import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import type { Scope } from "../../../domain/shared/scopes.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.service;
let tenant: Tenant;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  agentId = await mainAgentId(tenant.rest);
});

/** A user's token, or the gateway token of an agent. */
function callerOf(fields: { agentId?: string; scope?: Scope } = {}): Caller {
  const kind = fields.agentId === undefined ? "personal_access_token" : "gateway_token";
  const { org_id: orgId, user_id: userId } = tenant;
  return { orgId, userId, role: "owner", scope: "everything", credential: { kind, id: "one" }, ...fields };
}

const find = (caller: Caller, agent?: string) => findProgramWorkspace(deps(), caller, agent);

test("a program of a user has the workspace of the agent that it names, and otherwise none", async () => {
  expect(await find(callerOf())).toBeUndefined();
  expect(await find(callerOf(), agentId)).toEqual({ id: { orgId: tenant.org_id, agentId }, readOnly: false });
  await expect(find(callerOf(), randomUUID())).rejects.toMatchObject({ code: "not_found" });
});

test("a program of an agent has the workspace of this agent, and cannot have that of another one", async () => {
  const agent = callerOf({ agentId });
  const own = { id: { orgId: tenant.org_id, agentId }, readOnly: false };
  expect([await find(agent), await find(agent, agentId)]).toEqual([own, own]);
  await expect(find(callerOf({ agentId: randomUUID() }), agentId)).rejects.toMatchObject({ code: "forbidden" });
});

test("the changes of a program are discarded if its token has not every permission", async () => {
  for (const scope of ["read", "deploy"] as const) {
    expect(await find(callerOf({ scope }), agentId)).toMatchObject({ readOnly: true });
    expect(await find(callerOf({ scope, agentId }))).toMatchObject({ readOnly: true });
  }
});

test("an agent cannot clear the workspace of another one", async () => {
  const other = callerOf({ agentId: randomUUID() });
  await expect(clearWorkspace(deps(), other, { id: agentId })).rejects.toMatchObject({ code: "forbidden" });
});

test("a cursor is the longest path or a shorter one, and nothing else", async () => {
  const list = (path: string) =>
    listWorkspaceFiles(deps(), callerOf(), { id: agentId, limit: 1, cursor: Buffer.from(path).toString("base64url") });
  const longest = "a".repeat(WORKSPACE_LIMITS.pathBytes);
  expect(await list(longest)).toMatchObject({ files: [], next_cursor: null });
  for (const path of ["", `${longest}a`]) await expect(list(path)).rejects.toMatchObject({ code: "invalid" });
});
