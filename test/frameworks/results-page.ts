import { type TestedRow, writeTestedRows } from "../support/tested-with.ts";
import { TEMPLATES, type Template } from "./create-tools/templates.ts";
import { nameOf, type PublicRepository } from "./public-repositories/public-repository.ts";
import { REPOSITORIES } from "./public-repositories/repositories.ts";

/** What became of one project. */
export interface Result {
  /** The framework that the service found. */
  framework: string | null;
  /** Whether the deployment ended as `ready`. */
  isReady: boolean;
  /** `null` when the app was ready and worked in the browser. */
  failure: string | null;
  /** What the browser reported although the app worked. */
  notes: readonly string[];
  /** From the deploy request until the deployment ended; `null` when nothing was deployed. */
  seconds: number | null;
}

/** The results of this run, by the name of the project. */
const templateResults = new Map<string, Result>();
const repositoryResults = new Map<string, Result>();

/** Prints the result of a template. When all templates of its tool have one, updates the tool's row in docs/frameworks.md. */
export async function writeTemplateResult(template: Template, version: string, result: Result): Promise<void> {
  print(template.name, result);
  templateResults.set(template.name, result);
  const names = TEMPLATES.filter(({ tool }) => tool === template.tool).map(({ name }) => name);
  await writeRow(templateResults, names, (working) => ({
    name: template.tool,
    version,
    works: working.join("; "),
  }));
}

/** Prints the result of a repository. When all of its kind have one, updates the kind's row in docs/frameworks.md. */
export async function writeRepositoryResult(repository: PublicRepository, result: Result): Promise<void> {
  print(nameOf(repository), result);
  repositoryResults.set(nameOf(repository), result);
  const names = REPOSITORIES.filter(({ kind }) => kind === repository.kind).map(nameOf);
  const isRefused = repository.kind === "other language";
  await writeRow(repositoryResults, names, (working) => ({
    name: `public repositories: ${repository.kind}`,
    version: `newest commits on ${new Date().toISOString().slice(0, 10)}`,
    works: `${working.length} of ${names.length}${isRefused ? ", which are refused with the reason" : ""}`,
  }));
}

function print(name: string, { framework, isReady, failure, notes, seconds }: Result): void {
  const outcome = failure === null ? "works" : `${isReady ? "is ready but broken" : "fails"}: ${failure}`;
  const details = [framework ?? "no framework", `${seconds ?? "-"} s`, ...notes].join("; ");
  process.stdout.write(`${name} ${outcome} (${details})\n`);
}

/** Needs a result of every name, and at least one project that was deployed. */
async function writeRow(
  results: ReadonlyMap<string, Result>,
  names: readonly string[],
  describeWorking: (working: string[]) => Omit<TestedRow, "limits">,
): Promise<void> {
  const outcomes = names.flatMap((name) => {
    const result = results.get(name);
    return result === undefined ? [] : [{ name, ...result }];
  });
  const isDeployed = outcomes.some(({ seconds }) => seconds !== null);
  if (outcomes.length < names.length || !isDeployed) return;
  const working = outcomes.filter(({ failure }) => failure === null).map(({ name }) => name);
  const limits = outcomes.flatMap(({ name, failure, isReady }) =>
    failure === null ? [] : [`${name}: ${isReady ? "ready but broken: " : ""}${failure.split(/(?<=\.)\s/)[0]}`],
  );
  await writeTestedRows("frameworks.md", [{ ...describeWorking(working), limits }]);
}
