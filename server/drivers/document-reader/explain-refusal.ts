import { ServiceError } from "../../../domain/shared/errors.ts";
import type { Violation } from "./inside/report.ts";
import { unsupported } from "./detect-type.ts";

/** In words that follow "the file", and what to do. */
const REASONS: Readonly<Record<Violation | "time" | "memory", string>> = {
  damaged: "is damaged and cannot be read. Open it in its program and save it again",
  encrypted: "is protected by a password. Save it without password",
  "no-text": "has no text. A scanned document needs text recognition (OCR) first",
  "not-docx": "is an archive and no Word document. Upload its files one by one",
  "too-many-pages": "has too many pages. Split it into several files",
  "too-much-text": "has too much text. Split it into several files",
  "too-nested": "has elements that are nested too deeply. Save it in a simpler form",
  time: "takes too long to read. Save it in a simpler form, or split it into several files",
  memory: "needs too much memory to read. Save it in a simpler form, or split it into several files",
};

/** Says why a file is refused. Any other reason means that the program which read it has crashed. */
export function explainRefusal(reason: string): ServiceError {
  if (reason === "not-docx") return unsupported("is an archive and no Word document");
  const words = Object.hasOwn(REASONS, reason) ? REASONS[reason as Violation] : REASONS.damaged;
  return new ServiceError("invalid", `file: the file ${words}.`);
}
