import { type HostileAct, type HostileCaller, repeatInParallel, sendAs } from "./hostile-act.ts";
import { mainAgent } from "./hostile-writes.ts";

const LINE_BYTES = 8 * 1024 * 1024 - 1000;
const LINES = 4;
const IMPORTS = 4;

/** A transcript whose first record is good, and whose others have the longest line that is read. */
function transcript(content: string): string {
  const record = { type: "user", sessionId: "hostile", uuid: "a", message: { role: "user", content: "Hello" } };
  const line = `{"type":"user","sessionId":"hostile","message":${content}}`;
  return `${JSON.stringify(record)}\n${`${line}\n`.repeat(LINES)}`;
}

async function importInParallel(caller: HostileCaller, file: string): Promise<void> {
  const path = `/v1/agents/${await mainAgent(caller)}/sessions/import`;
  await repeatInParallel(IMPORTS, IMPORTS, () =>
    sendAs(caller, "POST", path, file, { "content-type": "application/x-ndjson" }),
  );
}

function importAct(name: string, createContent: () => string): HostileAct {
  let file = "";
  return {
    name: `${IMPORTS} imports of ${name}`,
    prepare: () => {
      file ||= transcript(createContent());
    },
    run: (caller) => importInParallel(caller, file),
  };
}

/** Transcripts whose lines need much more memory and time than they have bytes. */
export const hostileTranscripts: readonly HostileAct[] = [
  importAct("lines of 2.7 million empty objects", () => `[${"{},".repeat(LINE_BYTES / 3)}{}]`),
  importAct("lines of lists in lists", () => `${"[".repeat(LINE_BYTES / 2)}${"]".repeat(LINE_BYTES / 2)}`),
  importAct("lines of one text", () => JSON.stringify("x".repeat(LINE_BYTES))),
];
