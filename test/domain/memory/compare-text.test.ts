import { expect, test } from "vitest";
import { hashText } from "../../../domain/memory/compare-text.ts";

const SAME_TEXT: [string, string][] = [
  ["Client prefers invoices in EUR", "client prefers  invoices in eur."],
  ["Client prefers invoices in EUR", "“Client prefers invoices, in EUR!”"],
  ["Renewal on 3 May", "- Renewal on **3 May**"],
  ["Café Müller", "Cafe\u0301 Mu\u0308ller"],
  ["Straße 5", "STRASSE 5"],
  ["ΟΔΟΣ", "οδος"],
  ["The price is 5", "The price is 5"],
  ["He doesn't call", "He doesn’t call"],
  ["soft\u00adware", "software"],
  ["他喜欢咖啡。", "他喜欢咖啡"],
];

test.each(SAME_TEXT)("%j and %j are the same text", (one, other) => {
  expect(hashText(one)).toEqual(hashText(other));
});

/** The pairs with which the rule was chosen: docs/decisions/0031-memories.md. */
const SAME_MEANING: [string, string][] = [
  ["The client prefers invoices in EUR", "Client prefers invoices in EUR"],
  ["Remember that the client prefers invoices in EUR", "The client prefers invoices in EUR"],
  ["Note: client prefers invoices in EUR", "Client prefers invoices in EUR"],
  ["Clients prefer invoices in EUR", "The client prefers invoices in EUR"],
  ["The deadline of the proposal is Friday", "Deadline of proposal: Friday"],
  ["Deadline is 5 June 2026", "The deadline is 5 June 2026."],
  ["Anna doesn't like phone calls", "Anna does not like phone calls"],
  ["We cannot ship to Norway", "We can not ship to Norway"],
  ["Client prefers e-mail", "Client prefers email"],
  ["We'll send the report", "We will send the report"],
  ["Anna's team uses Figma", "Anna team uses Figma"],
  ["Companies get a discount of 10%", "A company gets a discount of 10%"],
  ["The contract is signed", "Contract signed"],
  ["The client prefers invoices in EUR", "Client prefers invoices in euros"],
  ["Please also send the agenda", "Send the agenda"],
  ["The fee is 5 euro", "The fee is 5 EUR"],
  ["We won't ship to Norway", "We will not ship to Norway"],
  ["You're the lead", "You are the lead"],
  ["They've paid", "They have paid"],
  ["I'm the owner", "I am the owner"],
  ["Anna wants an answer", "Anna wants answer"],
  ["Invoices must be paid in May", "Invoices must paid in May"],
  ["Check that prices match", "Check prices match"],
  ["The prices are final", "The price is final"],
  ["The missions start in May", "The mission starts in May"],
  ["The cheeses are sold", "The cheese is sold"],
  ["All of the invoices are paid", "All the invoices are paid"],
];

test.each(SAME_MEANING)("%j and %j have the same meaning and are different texts", (one, other) => {
  expect(hashText(one).meaningHash).toBe(hashText(other).meaningHash);
  expect(hashText(one).contentHash).not.toBe(hashText(other).contentHash);
});

const DIFFERENT: [string, string][] = [
  ["Renewal is on 3 May", "Renewal is on 5 May"],
  ["Renewal is on 3 May", "Renewal is on 3 June"],
  ["Renewal is on 3 May 2026", "Renewal is on 3 May 2027"],
  ["The price is 1.5 EUR", "The price is 15 EUR"],
  ["The price is 1,000 EUR", "The price is 1.000 EUR"],
  ["The price is 5 EUR", "The price is 5 USD"],
  ["The price is $5", "The price is €5"],
  ["The discount is 10%", "The discount is 10"],
  ["The temperature is -5", "The temperature is 5"],
  ["The budget is 5", "The budget is 5 million"],
  ["Call at 5 am", "Call at 5 pm"],
  ["Version 2.1 runs on port 8080", "Version 2.1 runs on port 8081"],
  ["Anna reports to Bob", "Bob reports to Anna"],
  ["The client pays the supplier", "The supplier pays the client"],
  ["Anna is the lead", "Bob is the lead"],
  ["Anna Andersen is the lead", "Anna Anderson is the lead"],
  ["Anna is the lead", "Anna was the lead"],
  ["Anna likes tea", "Anna does not like tea"],
  ["Anna likes tea", "Anna never likes tea"],
  ["Anna can approve", "Anna cannot approve"],
  ["The contract is signed", "The contract is unsigned"],
  ["The client approved the design", "The client approves the design"],
  ["Invoices are due before delivery", "Invoices are due after delivery"],
  ["Pay from the Berlin account", "Pay to the Berlin account"],
  ["Deploy with approval", "Deploy without approval"],
  ["Deploy on Friday", "Deploy by Friday"],
  ["All clients get a discount", "Some clients get a discount"],
  ["Send it to her manager", "Send it to his manager"],
  ["The client wants tea or coffee", "The client wants tea and coffee"],
  ["We must call first", "We may call first"],
  ["Acme prefers invoices in EUR", "Globex prefers invoices in EUR"],
  ["The client prefers invoices in EUR", "The client's subsidiary prefers invoices in EUR"],
  ["The client prefers invoices in EUR", "The client prefers invoices in EUR for hardware"],
  ["The staging server runs Debian", "The production server runs Debian"],
  ["The client has approved", "The client has approved?"],
  ["Client prefers dark mode", "Client prefers light mode"],
  ["Der Kunde zahlt in Euro", "Der Kunde zahlt nicht in Euro"],
  ["客户喜欢咖啡", "客户不喜欢咖啡"],
  ["The European contract starts in May", "The EUR contract starts in May"],
  ["The Neuro clinic opens in May", "The EUR clinic opens in May"],
  ["The gas contract starts in May", "The GA contract starts in May"],
  ["The host is db-2nodes", "The host is db-2node"],
  ["The host is node2s", "The host is node2"],
  ["The client must note invoices", "The client must invoices"],
  ["The client must note invoices today", "The client must invoices today"],
  ["Rooms 1 23 are booked", "Rooms 12 3 are booked"],
  ["The DOES contract starts in May", "The DOE contract starts in May"],
  ["O'Sullivan is the lead", "Oullivan is the lead"],
  ["O'Brien is the lead", "OBrien is the lead"],
  ["O'Reilly is the lead", "O areilly is the lead"],
  ["O'Llano is the lead", "O willano is the lead"],
  ["D'Verona is the lead", "D haverona is the lead"],
  ["O'Malley is the lead", "O amalley is the lead"],
];

test.each(DIFFERENT)("%j and %j are different statements", (one, other) => {
  expect(hashText(one).meaningHash).not.toBe(hashText(other).meaningHash);
});

test("the words of a text are where its spaces are", () => {
  expect(hashText("an other team").contentHash).not.toBe(hashText("another team").contentHash);
});

test("two texts of words without meaning are different statements", () => {
  expect(hashText("The").meaningHash).not.toBe(hashText("That is").meaningHash);
});

test("marks inside of a word stay, however many there are", () => {
  const word = `a${"\u2026".repeat(3990)}b`;
  expect(hashText(`${word}.`).contentHash).toBe(hashText(word).contentHash);
  expect(hashText(word).contentHash).not.toBe(hashText("ab").contentHash);
});

test("a minus before a number stays, and any other dash at the ends of a word does not", () => {
  expect(hashText("-5 degrees").contentHash).not.toBe(hashText("5 degrees").contentHash);
  expect(hashText("-five- degrees").contentHash).toBe(hashText("five degrees").contentHash);
});
