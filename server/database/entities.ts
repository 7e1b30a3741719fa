import { AgentWorkspace } from "../../domain/agent-workspaces/agent-workspace.entity.ts";
import { AgentServer } from "../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../domain/agents/agent.entity.ts";
import { EnabledSkill } from "../../domain/agents/enabled-skill.entity.ts";
import { InstructionRevision } from "../../domain/agents/instruction-revision.entity.ts";
import { ProjectMount } from "../../domain/agents/project-mount.entity.ts";
import { App } from "../../domain/apps/app.entity.ts";
import { IdempotencyKey } from "../../domain/apps/idempotency-key.entity.ts";
import { Archive } from "../../domain/archives/archive.entity.ts";
import { AuditEvent } from "../../domain/audit/audit-event.entity.ts";
import { Customization } from "../../domain/deployments/customization.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { DocumentPassage } from "../../domain/documents/document-passage.entity.ts";
import { DocumentVersion } from "../../domain/documents/document-version.entity.ts";
import { Document } from "../../domain/documents/document.entity.ts";
import { GitConnection } from "../../domain/git-connections/git-connection.entity.ts";
import { KnowledgeSource } from "../../domain/knowledge-sources/knowledge-source.entity.ts";
import { Memory } from "../../domain/memory/memory.entity.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import { InstallationRecord } from "../../domain/installation/installation-record.entity.ts";
import { Procedure } from "../../domain/procedures/procedure.entity.ts";
import { Project } from "../../domain/projects/project.entity.ts";
import { PushDelivery } from "../../domain/push-records/push-delivery.entity.ts";
import { PushEndpoint } from "../../domain/push-records/push-endpoint.entity.ts";
import { RateLimitWindow } from "../../domain/rate-limits/rate-limit-window.entity.ts";
import { SearchLanguage } from "../../domain/search/search-language.entity.ts";
import { SearchPosting } from "../../domain/search/search-posting.entity.ts";
import { SearchScope } from "../../domain/search/search-scope.entity.ts";
import { SearchVector } from "../../domain/search/search-vector.entity.ts";
import { DeletedSession } from "../../domain/sessions/deleted-session.entity.ts";
import { SessionEntry } from "../../domain/sessions/session-entry.entity.ts";
import { Session } from "../../domain/sessions/session.entity.ts";
import { SkillFile } from "../../domain/skills/skill-file.entity.ts";
import { Skill } from "../../domain/skills/skill.entity.ts";
import { AppStorageRecord } from "../../domain/storage/app-storage-record.entity.ts";
import { MachineToken } from "../../domain/tokens/machine-token.entity.ts";
import { UsageCount } from "../../domain/usage/usage-count.entity.ts";
import { AppVariable } from "../../domain/variables/app-variable.entity.ts";

export const entities = [
  Agent,
  AgentServer,
  AgentWorkspace,
  App,
  AppStorageRecord,
  AppVariable,
  Archive,
  AuditEvent,
  DeletedSession,
  Customization,
  Deployment,
  Document,
  DocumentPassage,
  DocumentVersion,
  EnabledSkill,
  GitConnection,
  IdempotencyKey,
  InstallationRecord,
  InstructionRevision,
  KnowledgeSource,
  MachineToken,
  Memory,
  Organization,
  Procedure,
  Project,
  ProjectMount,
  PushDelivery,
  PushEndpoint,
  RateLimitWindow,
  SearchLanguage,
  SearchPosting,
  SearchScope,
  SearchVector,
  Session,
  SessionEntry,
  Skill,
  SkillFile,
  UsageCount,
] as const;
