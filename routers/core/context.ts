import type { EntityManager } from "@mikro-orm/core";
import type { AgentWorkspaceDeps } from "../../domain/agent-workspaces/list-workspace-files.ts";
import type { CreateServerDeps } from "../../domain/agents/create-server.ts";
import type { AgentRuntimeDeps } from "../../domain/agents/declare-runtime.ts";
import type { DeleteAgentDeps } from "../../domain/agents/delete-agent.ts";
import type { ReadAgentsDeps } from "../../domain/agents/list-servers.ts";
import type { UpdateAgentDeps } from "../../domain/agents/update-agent.ts";
import type { UpdateServerDeps } from "../../domain/agents/update-server.ts";
import type { AppListDeps } from "../../domain/apps/app-list-versions.ts";
import type { BrowseAppsDeps } from "../../domain/apps/browse-apps.ts";
import type { DeleteDeps } from "../../domain/apps/delete-app.ts";
import type { DeployDeps } from "../../domain/apps/deploy-app.ts";
import type { GetAppDeps } from "../../domain/apps/get-app.ts";
import type { ListDeps } from "../../domain/apps/list-apps.ts";
import type { RepositoryUrlDeps } from "../../domain/apps/repository-url.ts";
import type { RotateAppTokenDeps } from "../../domain/apps/rotate-app-token.ts";
import type { UpdateAppDeps } from "../../domain/apps/update-app.ts";
import type { RecordCallDeps } from "../../domain/audit/record-call.ts";
import type { ListEventsDeps } from "../../domain/audit/list-events.ts";
import type { CancelDeps } from "../../domain/deployments/cancel-deployment.ts";
import type { FollowLogDeps } from "../../domain/deployments/follow-deployment-log.ts";
import type { ReadDeploymentsDeps } from "../../domain/deployments/list-deployments.ts";
import type { ReadLogDeps } from "../../domain/deployments/read-deployment-log.ts";
import type { RedeployDeps } from "../../domain/deployments/redeploy-app.ts";
import type { ExportAppDeps } from "../../domain/exports/export-app.ts";
import type { ImportAppDeps } from "../../domain/exports/import-app.ts";
import type { FollowEventsDeps } from "../../domain/events/follow-events.ts";
import type { CallTool, ExecuteDeps } from "../../domain/execution/execute-code.ts";
import type { ChangeGitConnectionDeps } from "../../domain/git-connections/create-git-connection.ts";
import type { OpenHostDeps } from "../../domain/agents/open-host.ts";
import type { SearchKnowledgeDeps } from "../../domain/knowledge/search-knowledge.ts";
import type { SetInstructionsDeps } from "../../domain/agents/set-instructions.ts";
import type { ChangeMemoriesDeps } from "../../domain/memory/memory-scope.ts";
import type { ChangeProjectDeps } from "../../domain/projects/change-project.ts";
import type { SendDocumentDeps } from "../../domain/documents/send-document.ts";
import type { DeleteSourceDeps } from "../../domain/knowledge-sources/delete-source.ts";
import type { ReadSourceDeps } from "../../domain/knowledge-sources/read-source.ts";
import type { UploadArchiveDeps } from "../../domain/archives/upload-archive.ts";
import type { ConfigurePushDeps } from "../../domain/push-to-deploy/configure-push.ts";
import type { PollBranchDeps } from "../../domain/push-to-deploy/poll-branch.ts";
import type { Plans } from "../../domain/plans/plans.ts";
import type { Counter, QuotaState } from "../../domain/ports/counter.ts";
import type { CallDeps } from "../../domain/procedures/call-procedure.ts";
import type { OrganizationToolsDeps } from "../../domain/procedures/organization-tools.ts";
import type { SearchDeps } from "../../domain/procedures/search-procedures.ts";
import type { TextSearchDeps } from "../../domain/search/search-by-meaning.ts";
import type { FollowRuntimeLogsDeps } from "../../domain/runtime-logs/follow-runtime-logs.ts";
import type { ReadRuntimeLogsDeps } from "../../domain/runtime-logs/list-runtime-logs.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import type { ServiceError } from "../../domain/shared/errors.ts";
import type { DeleteSkillDeps } from "../../domain/skills/delete-skill.ts";
import type { EnableSkillDeps } from "../../domain/skills/enable-skill.ts";
import type { ReadSkillsDeps } from "../../domain/skills/read-skills.ts";
import type { UploadSkillDeps } from "../../domain/skills/upload-skill.ts";
import type { IssueTokenDeps } from "../../domain/tokens/issue-token.ts";
import type { ListTokensDeps } from "../../domain/tokens/list-tokens.ts";
import type { RevokeTokenDeps } from "../../domain/tokens/revoke-token.ts";
import type { RotateTokenDeps } from "../../domain/tokens/rotate-token.ts";
import type { GetAccountDeps } from "../../domain/users/get-account.ts";
import type { ListOAuthConnectionsDeps } from "../../domain/users/list-oauth-connections.ts";
import type { RevokeOAuthConnectionDeps } from "../../domain/users/revoke-oauth-connection.ts";
import type { ListVariablesDeps } from "../../domain/variables/list-variables.ts";
import type { SetVariableDeps } from "../../domain/variables/set-variable.ts";
import type { DeleteSessionDeps } from "../../domain/sessions/delete-session.ts";
import type { ImportTranscriptDeps } from "../../domain/sessions/import/import-transcript.ts";
import type { ReadSessionsDeps } from "../../domain/sessions/find-session.ts";
import type { ChangeSessionDeps } from "../../domain/sessions/open-session.ts";
import type { SearchTranscriptsDeps } from "../../domain/sessions/search-transcripts.ts";
import type { GetStorageDeps } from "../../domain/storage/get-storage.ts";
import type { UsageDeps } from "../../domain/usage/get-usage.ts";

/** Everything that the domain functions depend on, the same for every call. Each function names the part that it uses. */
export type Service = AgentRuntimeDeps &
  AgentWorkspaceDeps &
  AppListDeps &
  BrowseAppsDeps &
  CallDeps &
  CancelDeps &
  ChangeGitConnectionDeps &
  ChangeMemoriesDeps &
  ChangeProjectDeps &
  ChangeSessionDeps &
  ConfigurePushDeps &
  CreateServerDeps &
  DeleteAgentDeps &
  DeleteDeps &
  DeleteSessionDeps &
  DeleteSkillDeps &
  DeleteSourceDeps &
  DeployDeps &
  EnableSkillDeps &
  ExecuteDeps &
  ExportAppDeps &
  FollowEventsDeps &
  FollowLogDeps &
  FollowRuntimeLogsDeps &
  GetAccountDeps &
  GetAppDeps &
  GetStorageDeps &
  ImportAppDeps &
  ImportTranscriptDeps &
  IssueTokenDeps &
  ListDeps &
  ListEventsDeps &
  ListOAuthConnectionsDeps &
  ListTokensDeps &
  ListVariablesDeps &
  OpenHostDeps &
  OrganizationToolsDeps &
  PollBranchDeps &
  RateLimitDeps &
  ReadAgentsDeps &
  ReadDeploymentsDeps &
  ReadLogDeps &
  ReadRuntimeLogsDeps &
  ReadSessionsDeps &
  ReadSkillsDeps &
  ReadSourceDeps &
  RecordCallDeps &
  RedeployDeps &
  RepositoryUrlDeps &
  RevokeOAuthConnectionDeps &
  RevokeTokenDeps &
  RotateAppTokenDeps &
  RotateTokenDeps &
  SearchDeps &
  SearchKnowledgeDeps &
  SearchTranscriptsDeps &
  SendDocumentDeps &
  SetInstructionsDeps &
  SetVariableDeps &
  TextSearchDeps &
  UpdateAgentDeps &
  UpdateAppDeps &
  UpdateServerDeps &
  UploadArchiveDeps &
  UploadSkillDeps &
  UsageDeps &
  InstallationDeps;

export interface InstallationDeps {
  /** Whether this is a restored copy of an installation that may still run. It changes nothing until it has taken over. */
  isRestoredCopy: boolean;
}

export interface RateLimitDeps {
  /** Looks up plans and idempotency keys: a repeated deploy does not count against the limit. */
  em: EntityManager;
  /** The limits of deploys. */
  plans: Plans;
  /** Counts deploys. */
  counter: Counter;
  /** Counts calls of the tool gateway, which are too frequent for a counter in the database. */
  callCounter: Counter;
}

/** What the transport (REST, RPC or MCP) knows about one call. */
export interface CallDetails {
  /** Whether a person or a model may have written the input, so that `repo` can be a URL. REST has a pattern for it. */
  acceptsRepositoryUrls: boolean;
  /** Whether the result can be a file. Only REST sends one. */
  acceptsDownloads: boolean;
  /** The client's network address; `null` when the call did not come over the network. */
  address: string | null;
  /** The error to report when there is no caller; `null` for "missing or invalid token". */
  authenticationError: ServiceError | null;
  idempotencyKey: string | null;
  /** Whether an agent reads the result, so that it must have at most the size of a response for an agent. */
  isForAgent: boolean;
  /** The error of an unreadable body. The procedure throws it after the rate limit has counted the attempt. */
  unreadableBody: ServiceError | null;
  /** Passes the state of a rate limit to the transport, which may send it in headers. */
  reportRateLimit(policy: { name: string; limit: number; windowSeconds: number }, state: QuotaState): void;
}

/** The context of one call: the service, the caller, and the details that the transport knows. */
export interface Context extends CallDetails {
  service: Service;
  /** `null` when the call carries no valid credential. */
  caller: Caller | null;
  /** Calls a tool of the service for a program, with the rights of this call. */
  callTool: CallTool;
  /** The number of the service's own tools. */
  ownToolCount: number;
}
