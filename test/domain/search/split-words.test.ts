import { expect, test } from "vitest";
import { splitWords } from "../../../domain/search/split-words.ts";

const words = (text: string) => splitWords(text).map(({ text: word }) => word);

test.each([
  ["Refunds, paid; (soon)!", ["refunds", "paid", "soon"]],
  ["createInvoice", ["createinvoice", "create", "invoice"]],
  ["create_invoice", ["createinvoice", "create", "invoice"]],
  ["HTTPServer", ["httpserver", "http", "server"]],
  ["ISO9001 ISO 9001", ["iso9001", "iso", "9001", "iso", "9001"]],
  ["mp3 Q3 b2b", ["mp3", "q3", "b2b"]],
  ["notes.txt /etc/app.conf", ["notes", "txt", "etc", "app", "conf"]],
  ["shop.example.com", ["shop", "example", "com"]],
  ["e-mail follow-up", ["email", "mail", "followup", "follow", "up"]],
  ["30-day", ["30", "day"]],
  ["one-two-three-four", ["one", "two", "three", "four"]],
  ["the customer's, James' and companies’", ["the", "customer", "james", "and", "companies"]],
  ["don't l'accord", ["don't", "don", "l'accord", "accord"]],
  ["1,200 and 1,000,000 but 1,2", ["1200", "and", "1000000", "but", "1", "2"]],
  ["1,2345 12,34 a,200 1,200.5", ["1", "2345", "12", "34", "a", "200", "1200", "5"]],
  ["cat's-eye", ["catseye", "cat", "eye"]],
  ["JAMES'S", ["james"]],
  ["rock'n'roll", ["rocknroll", "rock", "roll"]],
  ["5o'clock o'clock5", ["5o", "clock", "oclock5", "clock5"]],
  ["don’t", ["don't", "don"]],
  ["30days 3days 90s v2Beta", ["30", "days", "3days", "90s", "v2beta", "v2", "beta"]],
  ["fooBAR ABc", ["foobar", "foo", "bar", "abc", "bc"]],
  ["one-two-three", ["onetwothree", "one", "two", "three"]],
  ["x\u0301-ray", ["x\u0301ray", "ray"]],
  ["ﬁle ① Ａ", ["file", "1", "a"]],
  ["snake__case -dash- 'quoted'", ["snake", "case", "dash", "quoted"]],
])("%s has the words %j", (text, expected) => {
  expect(words(text)).toEqual(expected);
});

test("scripts without spaces are split into characters and pairs of them, other scripts beside them into words", () => {
  expect(words("发票API")).toEqual(["发", "发票", "票", "api"]);
  expect(words("サービス")).toEqual(["サ", "サー", "ー", "ービ", "ビ", "ビス", "ス"]);
  expect(words("청구서")).toEqual(["청", "청구", "구", "구서", "서"]);
  expect(words("createInvoice发 mp3票")).toEqual(["createinvoice", "create", "invoice", "发", "mp3", "票"]);
  // A vowel sign belongs to its letter, unless it has none.
  expect(words("\u0e34\u0e48ก")).toEqual(["\u0e34\u0e48", "\u0e34\u0e48ก", "ก"]);
  expect(words("ที่นี่")).toEqual(["ที่", "ที่นี่", "นี่"]);
});

test("the parts of an identifier have consecutive positions, and the whole that of the first part", () => {
  expect(splitWords("a createInvoice now").map(({ text, position }) => [text, position])).toEqual([
    ["a", 0],
    ["createinvoice", 1],
    ["create", 1],
    ["invoice", 2],
    ["now", 3],
  ]);
});

test("the kind of a word says how it was made of the text", () => {
  expect(splitWords("one createInvoice don't 发票").map(({ text, kind }) => [text, kind])).toEqual([
    ["one", "word"],
    ["createinvoice", "whole"],
    ["create", "word"],
    ["invoice", "word"],
    ["don't", "contraction"],
    ["don", "word"],
    ["发", "character"],
    ["发票", "pair"],
    ["票", "character"],
  ]);
});

test("a word in capitals is an acronym unless all words are", () => {
  const acronyms = (text: string) =>
    splitWords(text)
      .filter(({ isAcronym }) => isAcronym)
      .map(({ text: word }) => word);
  expect(acronyms("The IT policy of the US, I am")).toEqual(["it", "us"]);
  expect(acronyms("WHAT IS IT")).toEqual([]);
  expect(acronyms("fooIT ITfoo I'M")).toEqual(["it"]);
});

test("a long word is cut, and never within a surrogate pair", () => {
  expect(words("x".repeat(100))).toEqual(["x".repeat(40)]);
  expect(words(`x${"𐌲".repeat(30)}`)).toEqual([`x${"𐌲".repeat(19)}`]);
});

test.each([
  ["a soft hyphen", "in\u00advoice"],
  ["a space without width", "in\u200bvoice"],
  ["a word joiner", "in\u2060voice"],
  ["a byte order mark", "\ufeffinvoice"],
])("%s hides no word", (_, text) => {
  expect(splitWords(text).map((word) => word.text)).toEqual(["invoice"]);
});

test("words are separated by spaces that do not break, and joined by hyphens that do not break", () => {
  expect(splitWords("ten\u00a0euros").map((word) => word.text)).toEqual(["ten", "euros"]);
  expect(splitWords("log\u2011in").map((word) => word.text)).toEqual(["login", "log", "in"]);
});
