/** Documents, questions about them, and how well each document answers a question. */
export interface Collection {
  name: string;
  documents: CollectionDocument[];
  questions: { id: string; text: string }[];
  judgments: Judgment[];
}

export interface CollectionDocument {
  id: string;
  title: string;
  body: string;
}

export interface Judgment {
  question: string;
  document: string;
  /** 0: does not answer the question; 1 and more: the higher, the better. */
  grade: number;
}
