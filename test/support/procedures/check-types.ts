import path from "node:path";
import ts from "typescript-6";

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.esnext.d.ts"],
  // Not `skipLibCheck`, which would skip the declarations under test too.
  skipDefaultLibCheck: true,
  types: [],
};

const libraries = new Map<string, ts.SourceFile | undefined>();

/** Compiles declarations and a program that uses them, and returns the errors of both. */
export function findTypeErrors(declarations: string, program: string): string[] {
  const console = "declare const console: { log(...values: unknown[]): void };\n";
  const files: Record<string, string> = { "/service.d.ts": console + declarations, "/main.ts": program };
  const host = ts.createCompilerHost(OPTIONS);
  const readLibrary = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) => {
    const text = files[name];
    if (text !== undefined) return ts.createSourceFile(name, text, languageVersion, true);
    if (!libraries.has(name)) libraries.set(name, readLibrary(name, languageVersion));
    return libraries.get(name);
  };
  host.fileExists = (name) => name in files;
  const checked = ts.createProgram(Object.keys(files), OPTIONS, host);
  return ts.getPreEmitDiagnostics(checked).map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    const text = ts.flattenDiagnosticMessageText(messageText, "\n");
    return `${file ? path.basename(file.fileName) : ""}:${line} ${text}`;
  });
}
