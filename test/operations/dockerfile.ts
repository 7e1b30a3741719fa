import { readFile } from "node:fs/promises";

export interface Instruction {
  keyword: string;
  text: string;
}

/** The instructions of a Dockerfile, with continued lines in one, without comments and flags. */
export async function readDockerfile(file: string): Promise<Instruction[]> {
  const text = (await readFile(file, "utf8")).replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [keyword = "", ...rest] = line.trim().split(/\s+/);
      return { keyword, text: rest.filter((word) => !/^--[a-z-]+=/.test(word) || keyword === "RUN").join(" ") };
    });
}

/** `NAME=value` pairs. */
export function readPairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split(" ").map((pair) => pair.split("=") as [string, string]));
}
