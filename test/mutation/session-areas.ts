import type { MutationArea } from "./mutation-area.ts";

/** The areas of sessions and their transcripts. */
export const SESSION_AREAS: MutationArea[] = [
  {
    name: "domain/sessions",
    sources: ["domain/sessions/*.ts"],
    except: ["domain/sessions/*.entity.ts"],
    tests: [
      "test/domain/sessions/{append-entries,count-entries,hosted-sessions,open-session,search-cursor,session-rules}.test.ts",
      "test/domain/sessions/search-transcripts.test.ts",
      "test/{mcp,rest}/sessions.test.ts",
      "test/rest/{invalid-session-requests,session-search,session-usage}.test.ts",
    ],
    testTimeoutMs: 8000,
  },
  {
    name: "domain/sessions, import",
    sources: ["domain/sessions/import/**/*.ts"],
    except: [
      "domain/sessions/import/{entry-batches,import-limiter,import-transcript,spool-transcript,store-transcript}.ts",
    ],
    tests: ["test/domain/sessions/import/*.test.ts"],
  },
  {
    name: "domain/sessions, stored imports",
    sources: [
      "domain/sessions/import/{entry-batches,import-limiter,import-transcript,spool-transcript,store-transcript}.ts",
    ],
    tests: [
      "test/domain/sessions/store-transcript.test.ts",
      "test/domain/sessions/import/spool-transcript.test.ts",
      "test/rest/import-{limits,transcripts}.test.ts",
    ],
  },
];
