import type { GitHostKind } from "./git-connections-query.ts";

interface KindDescription {
  label: string;
  /** The URL that is used if none is entered; `null` if it must be entered. */
  url: string | null;
  /** What the token, or the private key, has to be. */
  token: string;
  /** When the field of the user name is needed; `null` if the token needs none. */
  username: string | null;
}

/** The kinds of git hosts, the most common ones first. */
export const GIT_HOST_KINDS: Readonly<Record<GitHostKind, KindDescription>> = {
  github: {
    label: "GitHub",
    url: "https://github.com",
    token: "A fine-grained token with the permission Contents: Read-only, or a classic one with the scope repo.",
    username: null,
  },
  github_app: {
    label: "GitHub, with a GitHub App",
    url: "https://github.com",
    token: "The .pem file that GitHub generates for the app. The app needs the permission Contents: Read-only.",
    username: null,
  },
  gitlab: {
    label: "GitLab",
    url: "https://gitlab.com",
    token: "A personal, group or project access token with the scopes read_api and read_repository.",
    username: null,
  },
  gitea: {
    label: "Gitea or Forgejo",
    url: null,
    token: "An access token with the permissions repository: Read and user: Read.",
    username: null,
  },
  bitbucket: {
    label: "Bitbucket Cloud",
    url: "https://bitbucket.org",
    token: "An access token of a repository or a workspace, or an API token of a user.",
    username: "Only for an API token of a user",
  },
  git: {
    label: "Another host",
    url: null,
    token: "The password or token for HTTPS. Its repositories cannot be listed.",
    username: "By default git",
  },
};

/** Pairs of kind and label. */
export const KIND_OPTIONS = Object.entries(GIT_HOST_KINDS).map(([kind, { label }]) => [kind, label] as const);
