import type { MutationArea } from "./mutation-area.ts";

/** Their tests need no service. */
const SENTENCES = [
  "domain/knowledge/{extract-answer,list-sentences,markdown-to-answer-sentence,question-coverage,quote-by-meaning}.ts",
  "domain/knowledge/write-answer.ts",
];

/** The areas of Company Knowledge and of the search that it uses. */
export const KNOWLEDGE_AREAS: MutationArea[] = [
  {
    name: "domain/knowledge",
    sources: ["domain/knowledge/*.ts"],
    except: SENTENCES,
    tests: [
      "test/domain/knowledge/{extracted-answers,model-answers,search-knowledge}.test.ts",
      "test/rest/knowledge.test.ts",
      "test/mcp/company-knowledge.test.ts",
    ],
  },
  {
    name: "domain/knowledge, sentences",
    sources: SENTENCES,
    tests: [
      "test/domain/knowledge/{answer-sentences,extract-answer,list-sentences,question-coverage,quote-by-meaning}.test.ts",
      "test/domain/knowledge/write-answer.test.ts",
    ],
  },
  {
    name: "domain/search, words and scores",
    sources: [
      "domain/search/{analyzer,best-hits,edit-distance,fold-diacritics,fuse-hits,fuse-ranks,indexed-text}.ts",
      "domain/search/{postings,query-words,rank-by-proximity,ranking,score-postings,split-words,vectors,weigh-words,word-rules}.ts",
    ],
    tests: [
      "test/domain/search/{analyzer,best-hits,edit-distance,fold-diacritics,fuse-hits,fuse-ranks,indexed-text}.test.ts",
      "test/domain/search/{postings,query-words,rank-by-proximity,score-postings,split-words,vectors,weigh-words}.test.ts",
    ],
  },
  {
    name: "domain/search, index",
    sources: ["domain/search/{index-rebuild,index-texts,remove-vectors,update-scopes,write-postings}.ts"],
    tests: ["test/domain/search/{index-texts,update-scopes}.test.ts"],
    testTimeoutMs: 10_000,
  },
  {
    name: "domain/search, queries",
    sources: [
      "domain/search/{expand-prefixes,find-similar,match-words,read-postings,scope-statistics,search-index}.ts",
      "domain/search/text-array.ts",
    ],
    tests: ["test/domain/search/{query-plans,read-postings,search-index,similar-terms}.test.ts"],
  },
  {
    name: "domain/search, meanings",
    sources: ["domain/search/{embed-scopes,query-embedder,search-by-meaning}.ts"],
    tests: ["test/domain/search/{embed-scopes,query-embedder,search-by-meaning,similar-vectors}.test.ts"],
  },
];
