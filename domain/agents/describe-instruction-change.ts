import { truncateText } from "../shared/response-budget.ts";

export interface InstructionVersion {
  /** Cut after {@link SHOWN_CHARACTERS}. */
  content: string;
  content_hash: string;
}

interface Version {
  content: string;
  hash: string;
}

const SHOWN_CHARACTERS = 8000;
const DIFF_CHARACTERS = 4000;
/** Bounds the time of a comparison, which grows with the number of differences. */
const MAX_CHANGED_LINES = 500;

/** Describes a change of instructions within the size of a response. */
export async function describeInstructionChange(before: Version, after: Version) {
  return {
    before: toVersion(before),
    after: toVersion(after),
    truncated: Math.max(before.content.length, after.content.length) > SHOWN_CHARACTERS,
    diff: before.content === after.content ? null : await diffLines(before.content, after.content),
  };
}

function toVersion({ content, hash }: Version): InstructionVersion {
  return { content: truncateText(content, SHOWN_CHARACTERS), content_hash: hash };
}

async function diffLines(before: string, after: string): Promise<string | null> {
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 2, maxEditLength: MAX_CHANGED_LINES };
  const patch = createTwoFilesPatch("AGENTS.md", "AGENTS.md", before, after, "", "", options);
  return patch === undefined ? null : truncateText(patch, DIFF_CHARACTERS);
}
