import { tool } from "ai";
import { z } from "zod";
import type { Customization, TrialResult } from "../../../domain/ports/app-builder-agent.ts";
import type { FileResult, FileRequest } from "./sandboxed-files.ts";

export interface ToolActions {
  /** Does one operation on the files. */
  useFiles(request: FileRequest): Promise<FileResult>;
  /** Called after each change of a file. */
  onEdit(): void;
  tryOut(): Promise<TrialResult>;
  runScript(name: string): Promise<TrialResult>;
  addDependency: Customization["addDependency"];
  say(line: string): void;
}

const path = z.string().min(1).max(500).describe("A path relative to the root of the project, such as src/index.ts");

/** The tools of the app builder agent. An error is a result, so that the agent can correct its call. */
export function createBuilderTools(actions: ToolActions) {
  return { ...createReadTools(actions), ...createEditTools(actions), ...createBuildTools(actions) };
}

function createReadTools({ useFiles, say }: ToolActions) {
  return {
    list_files: tool({
      description: "Lists the files of the project, or of one folder.",
      inputSchema: z.object({ folder: z.string().max(500).optional() }),
      execute: ({ folder }) => {
        say(`list ${folder ?? "the files"}`);
        return useFiles({ operation: "list", folder });
      },
    }),
    read_file: tool({
      description: "Reads a text file. Each line starts with its number and a tab, which are not part of the file.",
      inputSchema: z.object({
        path,
        offset: z.int().min(1).max(1_000_000).optional().describe("The first line; 1 by default"),
      }),
      execute: (input) => {
        say(`read ${input.path}`);
        return useFiles({ operation: "read", ...input });
      },
    }),
    search: tool({
      description: "Lists the lines that contain a text. The text is not a regular expression.",
      inputSchema: z.object({ text: z.string().min(1).max(500) }),
      execute: ({ text }) => {
        say(`search "${text}"`);
        return useFiles({ operation: "search", text });
      },
    }),
  };
}

function createEditTools({ useFiles, onEdit, say }: ToolActions) {
  const change = async (request: FileRequest, line: string): Promise<FileResult> => {
    const result = await useFiles(request);
    if ("error" in result) say(`${line}: refused`);
    else {
      say(line);
      onEdit();
    }
    return result;
  };
  return {
    edit_file: tool({
      description:
        "Replaces old_string by new_string in a file. old_string must occur exactly once, or set replace_all.",
      inputSchema: z.object({
        path,
        old_string: z.string().min(1).max(100_000),
        new_string: z.string().max(100_000),
        replace_all: z.boolean().optional(),
      }),
      execute: (input) => change({ operation: "edit", ...input }, `edit ${input.path}`),
    }),
    write_file: tool({
      description: "Creates a text file, or replaces all of it. Use edit_file for parts of a file.",
      inputSchema: z.object({ path, content: z.string().max(200_000) }),
      execute: (input) => change({ operation: "write", ...input }, `write ${input.path}`),
    }),
    delete_file: tool({
      description: "Deletes a file.",
      inputSchema: z.object({ path }),
      execute: (input) => change({ operation: "delete", ...input }, `delete ${input.path}`),
    }),
  };
}

function createBuildTools({ onEdit, tryOut, runScript, addDependency, say }: ToolActions) {
  return {
    add_dependency: tool({
      description: "Adds a package of the npm registry to package.json and the lockfile.",
      inputSchema: z.object({
        name: z.string().min(1).max(214),
        version: z.string().max(64).optional().describe("A version or a range; the newest one by default"),
        development: z.boolean().optional().describe("Whether only builds and tests need it"),
      }),
      execute: async ({ name, version, development = false }) => {
        const result = await addDependency({ name, version, isDevelopment: development });
        say(`add dependency ${name}${result.passed ? "" : ": failed"}`);
        if (result.passed) onEdit();
        return result;
      },
    }),
    run_build: tool({
      description:
        "Installs, builds and starts a copy of the project. Returns whether it works, and the end of the output.",
      inputSchema: z.object({}),
      execute: () => tryOut(),
    }),
    run_script: tool({
      description:
        "Installs a copy of the project and runs a script of its package.json, such as test or typecheck. Returns whether it succeeded, and the end of the output.",
      inputSchema: z.object({ name: z.string().regex(/^[\w:.-]{1,100}$/) }),
      execute: async ({ name }) => {
        const result = await runScript(name);
        say(`run the script ${name}${result.passed ? "" : ": failed"}`);
        return result;
      },
    }),
  };
}
