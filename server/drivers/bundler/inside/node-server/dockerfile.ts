import path from "node:path";

/** A path of the folder of the build, and where it is in the folder of the server. Both are relative and have no `..`. */
export interface DockerfileCopy {
  from: string;
  to: string;
}

interface Stage {
  name: string;
  folder: string;
}

/**
 * What the last stage of a Dockerfile copies from another stage, by the instructions `COPY --from`.
 *
 * Paths with variables or patterns are left out, and so is what is outside of the `WORKDIR` of either stage, or all of it.
 */
export function readDockerfileCopies(dockerfile: string): DockerfileCopy[] {
  const stages: Stage[] = [];
  let copies: DockerfileCopy[] = [];
  for (const [keyword = "", ...words] of readInstructions(dockerfile)) {
    const stage = stages.at(-1);
    if (keyword === "FROM") {
      const [base = "", , name = ""] = words.filter((word) => !word.startsWith("--"));
      stages.push({ name, folder: findStage(stages, base)?.folder ?? "/" });
      copies = [];
    } else if (keyword === "WORKDIR" && stage !== undefined)
      stage.folder = path.posix.resolve(stage.folder, words[0] ?? "");
    else if (keyword === "COPY" && stage !== undefined) copies.push(...readCopy(words, stage, stages));
  }
  return copies;
}

/** The folders in which the stages of a Dockerfile work, and the volumes that it declares, as absolute paths. */
export function readDockerfileFolders(dockerfile: string): { workFolders: string[]; volumes: string[] } {
  const workFolders = new Set<string>();
  const volumes: string[] = [];
  let folder = "/";
  for (const [keyword = "", ...words] of readInstructions(dockerfile)) {
    if (keyword === "WORKDIR") folder = path.posix.resolve(folder, (words[0] ?? "").replaceAll(/["']/g, ""));
    if (keyword === "WORKDIR" && !folder.includes("$")) workFolders.add(folder);
    // Paths are separated by spaces, or are a list in JSON.
    const names = keyword === "VOLUME" ? words.join(" ").split(/[\s"',[\]]+/) : [];
    volumes.push(...names.filter((name) => name.startsWith("/")));
  }
  return { workFolders: [...workFolders], volumes };
}

/** The words of each instruction, with its keyword in capitals. */
function readInstructions(dockerfile: string): string[][] {
  const withoutComments = dockerfile.replaceAll(/^\s*#.*\n?/gm, "");
  const lines = withoutComments.replaceAll(/\\[ \t]*\r?\n/g, " ").split("\n");
  return lines
    .map((line) => line.trim().split(/\s+/))
    .map(([keyword = "", ...words]) => [keyword.toUpperCase(), ...words]);
}

function readCopy(words: readonly string[], { folder }: Stage, stages: readonly Stage[]): DockerfileCopy[] {
  const origin = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const other = origin === undefined ? undefined : findStage(stages, origin);
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = paths.pop();
  if (other === undefined || target === undefined || !/^[\w./@-]+$/.test(target)) return [];
  return paths
    .filter((source) => /^[\w./@-]+$/.test(source))
    .map((source) => {
      // A folder with a slash at its end is the parent of the copy of a file, and of each of several sources.
      const isParent = paths.length > 1 || (target.endsWith("/") && path.posix.extname(source) !== "");
      const to = isParent ? path.posix.join(target, path.posix.basename(source)) : target;
      return { from: pathBelow(other.folder, source), to: pathBelow(folder, to) };
    })
    .filter((copy): copy is DockerfileCopy => copy.from !== null && copy.to !== null);
}

/** A stage has a name, or the number of its position. */
function findStage(stages: readonly Stage[], name: string): Stage | undefined {
  return (
    stages.find((stage) => stage.name !== "" && stage.name === name) ??
    (/^\d+$/.test(name) ? stages[Number(name)] : undefined)
  );
}

function pathBelow(folder: string, name: string): string | null {
  const relative = path.posix.relative(folder, path.posix.resolve(folder, name));
  return relative === "" || relative.startsWith("..") ? null : relative;
}
