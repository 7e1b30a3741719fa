/** What the program that reads a copied database is asked to do. */
export type DatabaseRequest = ({ kind: "describe" } | { kind: "query"; sql: string; limit: number }) & {
  limits: {
    countedRows: number;
    tables: number;
    columns: number;
    statementMs: number;
    resultBytes: number;
    valueBytes: number;
  };
};

/** What SQLite, or this program, refuses. `sqlite` is a text of SQLite. */
export type DatabaseProblem = { reason: "several" | "empty" | "write" | "memory" | "damaged" } | { sqlite: string };
