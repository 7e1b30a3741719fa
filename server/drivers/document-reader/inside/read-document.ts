// Runs in the sandbox. Reads the file /opt/document and writes a `ReadReport` to the standard output.
// Usage: read-document.ts <html|pdf|csv|archive> <ReadLimits as JSON>
import { readFileSync } from "node:fs";
import { type ReadLimits, type ReadReport, RefusedFile } from "./report.ts";

const [type = "", limits = "{}"] = process.argv.slice(2);

async function read(content: Uint8Array, readLimits: ReadLimits): Promise<ReadReport> {
  try {
    const found = await readAs(type, content, readLimits);
    return found.text.trim() === "" ? { outcome: "refused", reason: "no-text" } : { outcome: "read", ...found };
  } catch (error) {
    if (error instanceof RefusedFile) return { outcome: "refused", reason: error.reason };
    // The stack overflows when elements are nested too deeply.
    if (error instanceof RangeError) return { outcome: "refused", reason: "too-nested" };
    return { outcome: "refused", reason: "damaged" };
  }
}

async function readAs(
  fileType: string,
  content: Uint8Array,
  readLimits: ReadLimits,
): Promise<{ type?: string; title: string | null; text: string }> {
  if (fileType === "pdf") return (await import("./read-pdf.ts")).readPdf(content, readLimits);
  if (fileType === "archive") return (await import("./read-archive.ts")).readArchive(content, readLimits);
  const text = new TextDecoder().decode(content);
  if (fileType === "csv") return (await import("./read-csv.ts")).readCsv(text, readLimits);
  return (await import("./read-html.ts")).readHtml(text, readLimits);
}

const report = await read(readFileSync("/opt/document"), JSON.parse(limits) as ReadLimits);
// The libraries may have timers, so the process ends here.
process.stdout.write(JSON.stringify(report), () => process.exit(0));
