import { hashText } from '../../../studio/art/random.ts';
import { readPrompt } from '../../../studio/art/scene.ts';
import { findKeywords, summarise } from './text.ts';

/** The input of a reply. */
export interface Question {
  readonly system: string;
  readonly user: string;
  /** How to configure a real model; OpenAI's setting when absent. */
  readonly remedy?: string;
}

const OPENAI_REMEDY = 'set OPENAI_BASE_URL to any OpenAI-compatible server for real answers';

const SUMMARY = /\b(?:summari[sz]e|summary|tl;?dr)\b|摘要|总结/i;
const KEYWORDS = /\bkey ?words?\b|关键词/i;
const MARKDOWN = /\bmarkdown\b/i;
const PROMPT =
  /\b(?:improve|expand|rewrite|enhance|optimi[sz]e)\b[^.]{0,60}\bprompts?\b|\bprompt for\b|提示词/i;

/**
 * The answer of `local-rules`, which is not a language model: it does arithmetic, summaries, keywords, image prompts and Markdown;
 * to anything else it answers what it is.
 */
export function replyTo({ system, user, remedy = OPENAI_REMEDY }: Question): string {
  const value = calculate(user);
  if (value !== null) return String(Number(value.toFixed(10)));
  const { instruction, body } = split(user);
  if (SUMMARY.test(instruction) || SUMMARY.test(system)) return summarise(body);
  if (KEYWORDS.test(instruction)) return findKeywords(body, 8).join(', ');
  if (MARKDOWN.test(instruction)) return markdownAbout(user);
  if (PROMPT.test(instruction)) return expandPrompt(body);
  if (PROMPT.test(system)) return expandPrompt(user);
  return whatIAm(user, remedy);
}

/** The text after an instruction such as "Summarise this:"; the whole text without one. */
function split(text: string): { instruction: string; body: string } {
  const match = /^([^:：\n]{0,120})[:：\n]([\s\S]+)$/.exec(text.trim());
  const [, instruction, body] = match ?? [];
  return instruction === undefined || body === undefined
    ? { instruction: text, body: text.trim() }
    : { instruction, body: body.trim() };
}

function expandPrompt(prompt: string): string {
  const scene = readPrompt(prompt, hashText(prompt));
  const air = scene.weather === 'clear' ? 'clear air' : scene.weather;
  const setting = scene.ground === 'none' ? 'open space' : `${scene.ground} setting`;
  const start = prompt.trim().replace(/[.。]$/, '');
  return `${start}, ${scene.time} light, ${air}, ${setting}, ${scene.finish} finish, strong foreground, layered depth`;
}

/** Every form that Markdown has, so that a page which shows answers can be tried. */
function markdownAbout(text: string): string {
  const words = findKeywords(text, 5);
  return [
    '## Markdown',
    `Words of **your message**, as a list:`,
    (words.length === 0 ? ['none'] : words).map((word) => `- *${word}*`).join('\n'),
    '| word | letters |\n| --- | ---: |\n' + words.map((word) => `| ${word} | ${word.length} |`).join('\n'),
    `\`\`\`js\nconst words = ${JSON.stringify(words)};\nconsole.log(words.length);\n\`\`\``,
    '> A quotation, a [link](https://example.com/), and a <b>tag</b> that stays text.',
  ].join('\n\n');
}

function whatIAm(text: string, remedy: string): string {
  const about = findKeywords(text, 5);
  const topic = about.length === 0 ? '' : ` Your message is about ${about.join(', ')}.`;
  return (
    'I am local-rules, a small rule-based helper and not a language model: I can do arithmetic, summarise, list keywords ' +
    `and expand image prompts; ${remedy}.${topic}`
  );
}

/** An estimate: four characters per token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

const TOKENS = /\d+(?:\.\d+)?|[-+*/()^]/g;
const QUESTION = /\b(?:what is|what's|calculate|compute|equals?|please)\b|多少|等于|计算|是|[?=？]/gi;
/** Longest arithmetic question; also bounds the depth of brackets. */
const MAX_LENGTH = 200;

/** The value of an arithmetic question ("what is (2+3)*4?"); null when the text is something else. */
export function calculate(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const sum = text.replaceAll(QUESTION, ' ').replaceAll('×', '*').replaceAll('÷', '/').trim();
  if (!/^[\d\s.+\-*/()^]+$/.test(sum)) return null;
  const tokens = sum.match(TOKENS) ?? [];
  if (tokens.length < 3) return null;
  const reader: Reader = { tokens, at: 0 };
  const value = readSum(reader);
  return reader.at === tokens.length && Number.isFinite(value) ? value : null;
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
}

/** Takes the next token when it is one of these. */
function take(reader: Reader, ...signs: readonly string[]): string | null {
  const token = reader.tokens[reader.at];
  if (token === undefined || !signs.includes(token)) return null;
  reader.at += 1;
  return token;
}

function readSum(reader: Reader): number {
  let value = readProduct(reader);
  for (let sign = take(reader, '+', '-'); sign !== null; sign = take(reader, '+', '-')) {
    const next = readProduct(reader);
    value = sign === '+' ? value + next : value - next;
  }
  return value;
}

function readProduct(reader: Reader): number {
  let value = readPower(reader);
  for (let sign = take(reader, '*', '/'); sign !== null; sign = take(reader, '*', '/')) {
    const next = readPower(reader);
    value = sign === '*' ? value * next : value / next;
  }
  return value;
}

function readPower(reader: Reader): number {
  const base = readNumber(reader);
  return take(reader, '^') === null ? base : base ** readPower(reader);
}

/** NaN when a number is missing, which makes the whole invalid. */
function readNumber(reader: Reader): number {
  if (take(reader, '-') !== null) return -readNumber(reader);
  if (take(reader, '(') !== null) {
    const value = readSum(reader);
    return take(reader, ')') === null ? Number.NaN : value;
  }
  const token = reader.tokens[reader.at];
  reader.at += 1;
  return token === undefined ? Number.NaN : Number(token);
}
