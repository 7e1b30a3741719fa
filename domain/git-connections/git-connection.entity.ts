import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { GitHostKind } from "../ports/git-hosts.ts";

/** A git host whose repositories an organization can deploy, with the credential for it. */
const GitConnectionSchema = defineEntity({
  name: "GitConnection",
  tableName: "git_connections",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    kind: p.string().$type<GitHostKind>(),
    /** `owner/name` is appended to it. Without credentials, and without a slash at the end. */
    url: p.text(),
    /** The host of `url`, with its port if it has one: `gitlab.example.com:8443`. */
    host: p.text(),
    /** Whose repositories it is for: an owner, or one repository as owner/name; `null` for all of the host. */
    repositories: p.text().nullable(),
    username: p.text(),
    /** The token, or the private key of a GitHub App, encrypted. */
    sealedToken: p.text(),
    /** Of a GitHub App. */
    appId: p.text().nullable(),
    /** Of a GitHub App: which account has permitted it to read its repositories. */
    installationId: p.bigint("number").nullable(),
    createdBy: p.uuid().nullable(),
    /** When the host last accepted the token; `null` for a host whose credential could not be checked. */
    checkedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["orgId", "createdAt", "id"] }],
});

export class GitConnection extends GitConnectionSchema.class {}
GitConnectionSchema.setClass(GitConnection);
