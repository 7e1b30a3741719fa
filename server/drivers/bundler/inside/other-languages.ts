import { globSync, readFileSync } from "node:fs";
import type { Explanation } from "./explain-server-build.ts";
import { isFile } from "./package-json.ts";

/** A kind of project that the platform cannot run, and the files at its root that such a project has. */
interface OtherLanguage {
  name: string;
  /** Patterns of `globSync`. One match is enough. */
  files: readonly string[];
  /** For files with a common name: what else must exist. */
  beside?: string;
}

/** The generators of sites come before their languages, and Docker is last: most projects have a Dockerfile. */
const OTHER_LANGUAGES: readonly OtherLanguage[] = [
  { name: "Hugo", files: ["hugo.{toml,yaml,yml,json}"] },
  { name: "Hugo", files: ["config.{toml,yaml,yml}"], beside: "{archetypes,themes,layouts,content}" },
  { name: "Jekyll", files: ["_config.{yml,yaml,toml}"], beside: "{Gemfile,_posts,_layouts,_includes,index.md}" },
  { name: "Elixir", files: ["mix.exs"] },
  { name: "Ruby", files: ["Gemfile", "config.ru", "*.gemspec"] },
  { name: "PHP", files: ["composer.json", "index.php", "public/index.php"] },
  { name: "Go", files: ["go.mod", "main.go"] },
  { name: "Rust", files: ["Cargo.toml"] },
  { name: "Java", files: ["pom.xml", "build.gradle", "build.gradle.kts"] },
  { name: ".NET", files: ["*.{sln,slnx,csproj,fsproj,vbproj}"] },
  {
    name: "Python",
    files: ["pyproject.toml", "requirements*.txt", "setup.{py,cfg}", "Pipfile", "{manage,app,main}.py", "*.ipynb"],
  },
  { name: "Dart", files: ["pubspec.yaml"] },
  { name: "Swift", files: ["Package.swift"] },
  { name: "Deno", files: ["deno.{json,jsonc}"] },
  { name: "Docker", files: ["Dockerfile", "Containerfile", "{docker-compose,compose}.{yml,yaml}"] },
];

/** Names of `Docker` and the like do not say that the repository has another part that should run. */
const NOT_A_PART = new Set(["Docker", "Deno", "Hugo"]);

/**
 * Explains why a project of another language cannot be deployed. Called when nothing else was found in the current folder.
 *
 * @param folders - folders that may have an app
 */
export function explainOtherLanguage(folders: readonly string[]): Explanation | null {
  const name = findOtherLanguage();
  if (name === undefined) return null;
  return {
    message: `This is ${article(name)} project. Node.js and Workers projects can be deployed.`,
    advice:
      folders.length > 0
        ? `If the repository has a front end or a Node.js server too, set root_directory to its folder, such as ${folders.join(", ")}, when you deploy or in the settings of the app (PATCH /v1/apps/{id}).`
        : "Deploy a repository with a package.json, a wrangler configuration or an index.html.",
  };
}

/**
 * Warns that the static files of a repository are deployed, and its part in another language is not. Returns an empty list if
 * there is no such part.
 */
export function describeOtherLanguage(): string[] {
  const name = findOtherLanguage();
  if (name === undefined || NOT_A_PART.has(name)) return [];
  return [
    `The repository is ${article(name)} project too. Only its front end was deployed: static files, without the server.`,
  ];
}

/** Whether a page at the root is a template of Jekyll, which starts with settings between lines of `---`. */
export function isTemplateOfJekyll(page: string): boolean {
  return findOtherLanguage() === "Jekyll" && isFile(page) && /^---\r?\n/.test(readFileSync(page, "utf8"));
}

function article(name: string): string {
  return /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`;
}

function findOtherLanguage(): string | undefined {
  return OTHER_LANGUAGES.find(({ files, beside }) => exists(files) && (beside === undefined || exists([beside])))?.name;
}

function exists(patterns: readonly string[]): boolean {
  return globSync([...patterns]).length > 0;
}
