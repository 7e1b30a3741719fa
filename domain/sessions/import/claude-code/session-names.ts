import { isRecord } from "../../../shared/json.ts";
import { readId } from "../entry-builder.ts";
import { toTitle } from "../session-title.ts";
import { readContent } from "./content-blocks.ts";

type Fields = Record<string, unknown>;

/** The fields of the records that name a session, the most significant title first. */
const TITLES = { "custom-title": "customTitle", "ai-title": "aiTitle", summary: "summary" } as const;

type TitleKind = keyof typeof TITLES;

/** Finds the id and the title of a session in its records. */
export class SessionNames {
  #id: string | null = null;
  readonly #titles: Partial<Record<TitleKind, string>> = {};
  #prompt: string | null = null;

  get id(): string | null {
    return this.#id;
  }

  /** The title that the user or Claude Code gave; otherwise the first line of the first prompt. */
  get title(): string | null {
    return this.#titles["custom-title"] ?? this.#titles["ai-title"] ?? this.#titles.summary ?? this.#prompt;
  }

  /** @returns whether the record is only a title */
  read(value: Fields): boolean {
    this.#id ??= readSessionId(value);
    const { type } = value;
    if (isTitleKind(type)) {
      const text = value[TITLES[type]];
      const title = typeof text === "string" ? toTitle(text) : null;
      if (title !== null) this.#titles[type] = title;
      return title !== null;
    }
    if (type === "user") this.#prompt ??= readPrompt(value);
    return false;
  }
}

/** The file of a subagent has the id of the session that started it, and its own. */
function readSessionId({ sessionId, agentId, isSidechain, uuid }: Fields): string | null {
  const session = readId(sessionId);
  if (session === undefined || uuid === undefined) return null;
  const agent = isSidechain === true ? readId(agentId) : undefined;
  return agent === undefined ? session : `${session}.${agent}`;
}

function isTitleKind(type: unknown): type is TitleKind {
  return typeof type === "string" && Object.hasOwn(TITLES, type);
}

/** Commands, and texts that Claude Code adds in tags, make no title. */
function readPrompt({ message, isMeta, isCompactSummary }: Fields): string | null {
  if (!isRecord(message) || isMeta === true || isCompactSummary === true) return null;
  for (const block of readContent(message["content"]))
    if (block.type === "text" && !block.text.startsWith("<")) return toTitle(block.text);
  return null;
}
