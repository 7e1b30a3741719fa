import { createHash } from "node:crypto";
import { vi } from "vitest";
import { PASSWORD } from "../support/clients/dashboard.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { skillsOf } from "../support/service/skills.ts";
import type { SharedInstallation } from "./shared-installation.ts";

/** What the pages show: for each parameter in the path of a page, its value. Paths start with the longest match. */
export interface Content {
  parameters: Readonly<Record<string, string>>;
  /** The URL to which an OAuth client sends the user, which ends on the page of consent. */
  consentUrl: string;
}

const MARKDOWN = "# Prices\n\n## Team\n\nThe **Team** plan costs 49 euros, see [the list](https://example.com).\n";

/** Creates one of everything that pages show, so that no page is empty. */
export async function givenContent(shared: SharedInstallation): Promise<Content> {
  const { publicUrl, rest } = shared.service;
  const owner = new TestUser(publicUrl, "ada@example.com", PASSWORD);
  await owner.signIn();
  const api = rpcClient(publicUrl, await owner.accessToken(), { "x-service-org-id": shared.organizationId });
  const app = await api.apps.deploy.mutate({ repo: "examples/guestbook" });
  const { servers } = await api.servers.list.query({});
  const agent = servers[0]?.agent.agent_id ?? "";
  const session = await givenSession(api, agent);
  await api.instructions.replace.mutate({ id: agent, content: "# Rules\nBe brief.\n" });
  await api.memories.store.mutate({ id: agent, kind: "preference", content: "Ada prefers tea." });
  await skillsOf(rest).uploadDocument("brew-tea");
  const document = await api.knowledge.add.mutate({ kind: "pricing", title: "Prices", content: MARKDOWN });
  // It cannot be read, so that its row has an error.
  await api.knowledgeSources.add.mutate({ kind: "sop", repo: "acme/absent", path: "docs" });
  const project = (await api.projects.create.mutate({ name: "Acme", kind: "client" })).project_id;
  const plan = await api.projectDocuments.add.mutate({ id: project, title: "Plan", content: MARKDOWN });
  await api.tokens.issue.mutate({ kind: "personal_access_token", name: "Ada's agent" });
  const invited = { email: "bob@example.com", role: "member", organizationId: shared.organizationId };
  const { body: invitation } = await owner.post("/organization/invite-member", invited);
  await api.variables.set.mutate({ id: app.app_id, name: "GREETING", value: "Hello", secret: false });
  const isReady = async () => (await api.apps.get.query({ id: app.app_id })).status === "ready";
  await vi.waitUntil(isReady, { timeout: 240_000, interval: 1_000 });
  return {
    parameters: {
      "/apps/$id": app.app_id,
      "/apps/$id/deployments/$number": "1",
      "/agents/$id": agent,
      "/sessions/$id": session,
      "/skills/$name": "brew-tea",
      "/knowledge/$id": document.document_id,
      "/projects/$id": project,
      "/projects/$id/documents/$documentId": plan.document_id,
      "/invitations/$id": String(invitation["id"]),
    },
    consentUrl: await requestConsent(publicUrl, owner),
  };
}

async function givenSession(api: ReturnType<typeof rpcClient>, agent: string): Promise<string> {
  const { session_id: id } = await api.sessions.open.mutate({ id: agent, external_id: "s1", title: "Prices" });
  await api.sessions.append.mutate({
    id,
    entries: [
      { id: "e1", role: "user", content: "What does *Team* cost?" },
      { id: "e2", role: "assistant", content: '{"limit":2}', tool: { name: "list", call_id: "c1" } },
      { id: "e3", role: "tool", content: '[{"id":1}]', tool: { name: "list", call_id: "c1" } },
      { id: "e4", role: "assistant", content: `${MARKDOWN}\n\`\`\`ts\nconst price = 49;\n\`\`\`\n` },
    ],
  });
  return id;
}

async function requestConsent(publicUrl: string, owner: TestUser): Promise<string> {
  const oauth = new OAuthRequests(publicUrl, owner);
  const clientId = await oauth.register({ client_name: "An agent" });
  const request = {
    resource: `${publicUrl}/mcp`,
    scope: "read offline_access",
    code_challenge: createHash("sha256").update("verifier").digest("base64url"),
    code_challenge_method: "S256",
  };
  return oauth.authorizeUrl(clientId, request).href;
}
