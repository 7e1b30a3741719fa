/** What a repository is. The results are counted for each kind. */
export type RepositoryKind =
  | "static site"
  | "single-page app"
  | "Worker"
  | "workspace"
  | "Next.js"
  | "Node server"
  | "other language";

/** A public repository that is deployed as it is, and how to see that its app works. */
export interface PublicRepository {
  kind: RepositoryKind;
  /** `owner/name` on GitHub. */
  repo: string;
  /** A folder that is deployed as a repository of its own, as a user has it who starts from this template. */
  folder?: string;
  /** The `root_directory` of the app; by default the root. */
  rootDirectory?: string;
  /** Variables that the documentation of the repository requires, for its build and the app. */
  variables?: Readonly<Record<string, string>>;
  /** Text that the page has in a browser, or its title. For another language: the message of the failure. */
  text: string;
  /** The path to open; by default `/`. */
  path?: string;
}

/** The folder of `vercel/examples` with a template for each framework. */
export const BOILERPLATES = "framework-boilerplates";

/** Gives all entries the same kind. */
export function all(kind: RepositoryKind, entries: readonly Omit<PublicRepository, "kind">[]): PublicRepository[] {
  return entries.map((entry) => ({ kind, ...entry }));
}

export function nameOf({ repo, folder, rootDirectory }: PublicRepository): string {
  return [repo, folder ?? rootDirectory].filter((part) => part !== undefined).join("/");
}
