/** A conversation whose turns an agent stores as memories, and questions about it. */
export interface Conversation {
  /** The name of the collection. */
  collection: string;
  /** In their order. */
  turns: ConversationTurn[];
  questions: ConversationQuestion[];
  /** Whether it is looked at only at the end, when all rules have been chosen with the others. */
  isHeldOut: boolean;
}

export interface ConversationTurn {
  id: string;
  /** The content of its memory: the speaker, and what they say. */
  content: string;
  at: Date;
}

export interface ConversationQuestion {
  text: string;
  /** The ids of the turns that answer it. */
  evidence: string[];
}

/** Reads a file of a collection. */
export type ReadFile = (path: string) => Promise<string>;
