import { readFileSync } from "node:fs";
import { isFile } from "../package-json.ts";

/** Reads the command of a process of a Procfile; `null` without one. `web` is the server, `release` runs before it goes live. */
export function readProcessLine(process: "web" | "release"): string | null {
  if (!isFile("Procfile")) return null;
  const lines = readFileSync("Procfile", "utf8").split(/\r?\n/);
  const prefix = `${process}:`;
  const line = lines.find((each) => each.startsWith(prefix));
  return line?.slice(prefix.length).trim() || null;
}
