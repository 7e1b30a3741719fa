import { z } from "zod";
import type { CreateGitConnection } from "../domain/git-connections/create-git-connection.ts";
import type { UpdateGitConnection } from "../domain/git-connections/change-git-connection.ts";
import type { GitConnectionView } from "../domain/git-connections/git-connection-rules.ts";
import type { BranchPage, RepositoryPage } from "../domain/git-connections/list-git-connections.ts";
import { GIT_HOST_KINDS } from "../domain/ports/git-hosts.ts";
import { timestampWithExample as timestamp } from "./core/common.schema.ts";

const id = z.uuid().meta({ description: "The connection's id", examples: ["7c0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const kind = z.enum(GIT_HOST_KINDS).meta({
  description:
    "`github_app` is GitHub with an app in place of a token. `bitbucket` is Bitbucket Cloud. `git` is any other host, whose repositories cannot be listed",
});
const token = z.string().meta({
  description:
    "A token that can read repositories, such as a fine-grained token of GitHub or a deploy token of GitLab. It is stored encrypted, and no response has it",
});
const privateKey = z.string().meta({
  description:
    "For `github_app` in place of `token`: the text of the .pem file that GitHub generates for the app. It is stored encrypted, and no response has it",
});
const appId = z
  .string()
  .meta({ description: "For `github_app`: the app's id, or its client id", examples: ["123456"] });
const installationId = z.int().positive();
const username = z.string().meta({ description: "The user name that belongs to the token; few hosts need it" });
const page = z.int().min(1).max(10_000).default(1).meta({ description: "The number of the page" });
const nextPage = z.int().nullable().meta({ description: "The number of the next page; null on the last one" });

export const createGitConnectionRequest = z.strictObject({
  kind,
  url: z
    .string()
    .optional()
    .meta({
      description: "owner/name is appended to it; default: github.com, gitlab.com or bitbucket.org",
      examples: ["https://git.example.com"],
    }),
  token: token.optional(),
  github_app_id: appId.optional(),
  private_key: privateKey.optional(),
  installation_id: installationId.optional().meta({
    description:
      "For `github_app`: its installation. By default the one for `repositories`, or the only one of the app",
  }),
  username: username.optional(),
  repositories: z
    .string()
    .optional()
    .meta({
      description:
        "Whose repositories it is for: an owner, or one repository as owner/name. By default all of the host, or of the account that has installed the app",
      examples: ["acme"],
    }),
}) satisfies z.ZodType<CreateGitConnection>;

export const updateGitConnectionRequest = z.strictObject({
  id,
  token: token.optional(),
  private_key: privateKey.optional(),
  username: username.optional(),
}) satisfies z.ZodType<UpdateGitConnection>;

export const gitConnectionRequest = z.strictObject({ id });

export const gitConnection = z
  .object({
    id,
    kind,
    url: z.string(),
    host: z.string().meta({ description: "What a deploy request can name as host" }),
    repositories: z.string().nullable(),
    username: z.string(),
    github_app_id: z.string().nullable(),
    installation_id: installationId.nullable(),
    checked_at: timestamp
      .nullable()
      .meta({ description: "When the host accepted the token; null if it cannot be asked without a repository" }),
    created_at: timestamp,
  })
  .meta({ id: "GitConnection" }) satisfies z.ZodType<GitConnectionView>;

export const gitConnectionList = z
  .object({ git_connections: z.array(gitConnection) })
  .meta({ id: "ListGitConnectionsResponse" });

export const listRepositoriesRequest = z.strictObject({
  id,
  query: z.string().max(200).optional().meta({ description: "A part of the name" }),
  page,
});

export const repositoryPage = z
  .object({
    repositories: z.array(
      z.object({
        repo: z.string(),
        default_branch: z.string().nullable(),
        is_private: z.boolean(),
        pushed_at: z.string().nullable(),
      }),
    ),
    next_page: nextPage,
  })
  .meta({ id: "ListRepositoriesResponse" }) satisfies z.ZodType<RepositoryPage>;

export const listBranchesRequest = z.strictObject({
  id,
  repo: z.string().meta({ description: "The repository, as owner/name", examples: ["acme/site"] }),
  page,
});

export const branchPage = z
  .object({ branches: z.array(z.object({ name: z.string(), commit: z.string() })), next_page: nextPage })
  .meta({ id: "ListBranchesResponse" }) satisfies z.ZodType<BranchPage>;
