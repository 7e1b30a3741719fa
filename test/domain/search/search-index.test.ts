import { expect, test } from "vitest";
import { sampleText as text, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const newScope = () => new TestScope(service);

test("a text is found by each of its words, the best match first", async () => {
  const scope = newScope();
  const ids = await scope.add(
    text("Refunds are paid within ten days."),
    text("Invoices are sent monthly. Paid by card."),
  );
  expect(ids).toEqual([0, 1]);
  expect(await scope.find("refund")).toEqual([0]);
  expect(await scope.find("paid an invoice each month")).toEqual([1, 0]);
  expect(await scope.find("absent")).toEqual([]);
});

test("a scope without texts has no hits, and neither has a limit of zero", async () => {
  const scope = newScope();
  expect(await scope.find("refund")).toEqual([]);
  await scope.add(text("refund"));
  expect(await scope.find("refund", { limit: 0 })).toEqual([]);
});

test("a word in the title counts more than in the body, and in a short text more than in a long one", async () => {
  const scope = newScope();
  await scope.add(
    text(`refund ${"other words ".repeat(50)}`),
    text("refund other words"),
    text("other words of the same number", { title: "refund" }),
  );
  expect(await scope.find("refund")).toEqual([2, 1, 0]);
});

test("a rare word counts more than a frequent one", async () => {
  const scope = newScope();
  await scope.add(text("common rare"), ...Array.from({ length: 8 }, () => text("common common")));
  expect((await scope.find("common rare"))[0]).toBe(0);
});

test("a search can be restricted to categories and to some of the texts, whatever else matches better", async () => {
  const scope = newScope();
  await scope.add(...Array.from({ length: 8 }, (_, category) => text("refund", { category })));
  expect(await scope.find("refund", { categories: [7, 2] })).toEqual([2, 7]);
  expect(await scope.find("refund", { categories: [] })).toEqual([]);
  expect(await scope.find("refund", { indexIds: new Set([3, 5, 99]), limit: 1 })).toEqual([3]);
  expect(await scope.find("refund", { indexIds: new Set() })).toEqual([]);
});

test("a search returns at most 200 hits, also from several blocks, those with the lowest ids of equal ones", async () => {
  const scope = newScope();
  await scope.add(...Array.from({ length: 5000 }, () => text("refund")));
  expect(await scope.find("refund", { limit: 1000 })).toEqual(Array.from({ length: 200 }, (_, index) => index));
  await scope.add(text("refund refund refund"));
  expect(await scope.find("refund", { limit: 2 })).toEqual([5000, 0]);
});

test("scores are those of BM25, with the average length of the texts that have words", async () => {
  const scope = newScope();
  await scope.add(text("refund"), text("refund invoice card"), text(""));
  const { hits } = await scope.search("refund");
  const idf = Math.log(1 + 0.5 / 2.5);
  // The texts have one and three words, on average two.
  const scoreOf = (length: number) => (idf * 2.5) / (1 + 1.5 * (0.25 + (0.75 * length) / 2));
  expect(hits).toEqual([
    { indexId: 0, score: expect.closeTo(scoreOf(1), 10) },
    { indexId: 1, score: expect.closeTo(scoreOf(3), 10) },
  ]);
  const ranking = { k1: 1.5, b: 0, titleWeight: 1 };
  expect((await scope.search("refund", { ranking })).hits.map(({ score }) => score)).toEqual([
    expect.closeTo(idf, 10),
    expect.closeTo(idf, 10),
  ]);
});

test("a search returns the words of its query, and the similar terms of a word that no text has", async () => {
  const scope = newScope();
  await scope.add(text("refund invoice"), text("refund"));
  const search = async (query: string, more: object) =>
    (await scope.search(query, more)).words.map((word) => [word.text, [...word.terms], word.isMissing]);
  expect(await search("the refunds invoise", { typos: true })).toEqual([
    ["refunds", ["refund"], false],
    ["invoise", ["invois", "invoic"], true],
  ]);
  expect(await search("invoise", {})).toEqual([["invoise", ["invois"], true]]);
  const { words } = await scope.search("refund invoice absent");
  expect(words.map(({ weight }) => weight)).toEqual(
    [Math.log(1 + 0.5 / 2.5), Math.log(1 + 1.5 / 1.5), Math.log(1 + 2.5 / 0.5)].map((weight) =>
      expect.closeTo(weight, 10),
    ),
  );
  expect(await newScope().search("refund")).toEqual({ hits: [], words: [], language: "english" });
});

test("a scope whose texts have no words has no hits, and no words to weigh", async () => {
  const scope = newScope();
  await scope.add(text(""), text("the"));
  expect(await scope.search("refund")).toEqual({ hits: [], words: [], language: "english" });
});

test("a stop word of one of the languages counts less, unless the query has no other words", async () => {
  const scope = newScope();
  await scope.add(text("other"), text("the x y", { language: "simple" }), text("refund x y", { language: "simple" }));
  expect(await scope.find("the refund", { language: "detect" })).toEqual([2, 1]);
  const [both, alone] = [
    await scope.search("the refund", { language: "detect" }),
    await scope.search("the", { language: "detect" }),
  ];
  expect(alone.hits[0]!.score).toBeCloseTo(both.hits[0]!.score, 10);
  expect(both.hits[1]!.score).toBeCloseTo(0.3 * both.hits[0]!.score, 10);
});

test("texts of several languages are found by words of each of them", async () => {
  const scope = newScope();
  await scope.add(
    text("The invoices are paid."),
    text("Die Rechnungen werden bezahlt.", { language: "german" }),
    text("Les factures sont payées.", { language: "french" }),
  );
  expect(await scope.find("invoice", { language: "detect" })).toEqual([0]);
  expect(await scope.find("Rechnung", { language: "detect" })).toEqual([1]);
  expect(await scope.find("facture payée", { language: "detect" })).toEqual([2]);
  // The word is a stop word in German only.
  expect(await scope.find("are", { language: "detect" })).toEqual([]);
});

test("a word finds longer words on request, those of one or two letters only when they are the whole query", async () => {
  const scope = newScope();
  await scope.add(text("Refunds are paid within ten days."), text("Invoices are sent monthly."));
  expect(await scope.find("invo")).toEqual([]);
  expect(await scope.find("invo", { prefix: true })).toEqual([1]);
  expect(await scope.find("re", { prefix: true })).toEqual([0]);
  expect(await scope.find("re invo", { prefix: true })).toEqual([1]);
});

test("a longer word that a query word begins scores less than the word itself", async () => {
  const scope = newScope();
  await scope.add(text("invoicebook"), text("invoice"));
  expect(await scope.find("invoice", { prefix: true })).toEqual([1, 0]);
});

test.each([
  ["invioce", true],
  ["nivoice", true],
  ["invoise", true],
  ["imvoice", true],
  ["inv", false],
  ["iinvoyse", false],
  ["zinvoice", false],
])("with typing errors allowed, %s finds an invoice: %s", async (query, isFound) => {
  const scope = newScope();
  await scope.add(text("Invoices are sent monthly."), text("A card"));
  expect(await scope.find(query)).toEqual([]);
  expect(await scope.find(query, { typos: true })).toEqual(isFound ? [0] : []);
  expect(await scope.find("cord", { typos: true })).toEqual([1]);
  expect(await scope.find("crd", { typos: true })).toEqual([]);
});

test("a word that texts contain is not corrected", async () => {
  const scope = newScope();
  await scope.add(text("contract"), text("contrast"));
  expect(await scope.find("contract", { typos: true })).toEqual([0]);
});

test.each([
  ["an empty query", ""],
  ["no words", "?! …"],
  ["only stop words", "what is the a of"],
  ["NUL", "\u0000"],
  ["unpaired surrogates", "\ud800 \udfff"],
  ["marks without letters", "\u0301\u0302"],
  ["only spaces", " \n\t\u00a0"],
])("%s is a query without hits", async (_what, query) => {
  const scope = newScope();
  await scope.add(text("refund what is the"));
  for (const more of [{}, { typos: true, prefix: true }, { language: "detect" }] as const)
    expect(await scope.find(query, more)).toEqual([]);
});

test.each([
  ["SQL", "' OR 1=1; drop table search_scopes -- refund"],
  ["operators of tsquery", "refund & ! ( | <-> :* 'x"],
  ["NUL", "re\u0000fund refund\u0000"],
  ["unpaired surrogates", "refund\ud800 \udc00x"],
  ["10,000 characters", `refund ${"word ".repeat(2000)}`],
  ["10,000 different words", Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(" ") + " refund"],
  ["one word of 10,000 characters", `refund ${"x".repeat(10_000)}`],
  ["names of object properties", "refund constructor __proto__ toString"],
  ["wildcards of like", "refund % _ \\"],
])("%s in a query is text like any other", async (what, query) => {
  const scope = newScope();
  await scope.add(text("A refund."));
  // Of a very long query, only the beginning is read.
  const expected = what === "10,000 different words" ? [] : [0];
  for (const more of [{}, { typos: true, prefix: true }, { language: "detect" }] as const)
    expect(await scope.find(query, more)).toEqual(expected);
});

test("a long query is searched for its rarest words", async () => {
  const scope = newScope();
  const words = Array.from({ length: 40 }, (_, index) => `frequent${String.fromCodePoint(97 + (index % 26))}${index}`);
  await scope.add(...Array.from({ length: 10 }, () => text(words.join(" "))), text("penguin"));
  expect((await scope.find(`${words.join(" ")} penguin`))[0]).toBe(10);
});

test("of a long query, all words are weighed, and its rarest words are completed but not corrected", async () => {
  const scope = newScope();
  const words = Array.from({ length: 16 }, (_, index) => `frequent${String.fromCodePoint(97 + index)}`);
  await scope.add(text("penguin"), text("penguins"), text(words.join(" ")), text("zebra"), text("frequentbhouse"));
  const search = async (query: string[]) => {
    const { hits, words: weighed } = await scope.search(query.join(" "), { typos: true, prefix: true });
    return { ids: hits.map(({ indexId }) => indexId).toSorted(), weighed };
  };
  // Two texts have the word, so 16 words are rarer.
  expect((await search([...words, "penguin"])).ids).toEqual([2, 4]);
  const { ids, weighed } = await search([...words.slice(1), "penguin", "zebrra"]);
  expect(ids).toEqual([0, 1, 2, 4]);
  expect(weighed.map(({ text: word, isMissing }) => [word, isMissing])).toEqual([
    ...words.slice(1).map((word) => [word, false]),
    ["penguin", false],
    ["zebrra", true],
  ]);
  expect([...weighed.at(-1)!.terms]).toEqual(["zebrra"]);
  // 16 words are not a long query.
  expect((await search([...words.slice(2), "penguin", "zebrra"])).ids).toContain(3);
});

test("a query finds texts of no one language too", async () => {
  const scope = newScope();
  await scope.add(text("invoices"), text("invoices", { language: "simple" }));
  expect(await scope.find("invoices", { language: "english" })).toEqual([0, 1]);
  expect(await scope.find("invoices", { language: "simple" })).toEqual([1, 0]);
  expect(await scope.find("invoices", { language: "detect" })).toEqual([0, 1]);
  expect(await scope.find("invoices", { language: "german" })).toEqual([1, 0]);
});

test("a search finds nothing of another scope: not of another organization, kind or owner", async () => {
  const scope = newScope();
  await scope.add(text("refund"));
  const { key } = scope;
  for (const other of [{}, { orgId: key.orgId }, { ownerId: key.ownerId }, { ...key, kind: "project" as const }])
    expect(await new TestScope(service, other).find("refund")).toEqual([]);
  expect(await new TestScope(service, key).find("refund")).toEqual([0]);
});

test.each([
  ["Latin", "Zażółć gęślą"],
  ["Greek", "σοφία λόγος"],
  ["Cyrillic", "счёт оплата"],
  ["Armenian", "հաշիվ վճար"],
  ["Georgian", "ანგარიში"],
  ["Hebrew", "חשבונית"],
  ["Arabic", "فاتورة"],
  ["Devanagari", "बिल भुगतान"],
  ["Bengali", "চালান"],
  ["Tamil", "விலைப்பட்டியல்"],
  ["Thai", "ใบแจ้งหนี้"],
  ["Lao", "ໃບແຈ້ງໜີ້"],
  ["Khmer", "វិក្កយបត្រ"],
  ["Myanmar", "ငွေတောင်းခံလွှာ"],
  ["Han", "发票付款"],
  ["Hiragana", "おしらせ"],
  ["Katakana", "サービス"],
  ["Hangul", "청구서 지급"],
  ["Ethiopic", "ደረሰኝ"],
  ["Cherokee", "ᏣᎳᎩ"],
  ["Gothic", "𐌲𐌿𐍄"],
  ["digits", "4711 ٤٢"],
])("words in %s are found in any language", async (_script, words) => {
  const scope = newScope();
  for (const language of ["english", "simple"] as const) await scope.add(text(words, { language }), text("refund"));
  for (const language of ["english", "simple", "detect"] as const)
    expect((await scope.find(words, { language })).toSorted()).toEqual([0, 2]);
});
