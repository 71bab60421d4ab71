const SMALL_WORDS = new Set(
  (
    'the a an and or of to in on for with is are was were be been it this that these those as at by from into than ' +
    'then so but not no you your i we our they their he she his her its will would can could should has have had do ' +
    'does did what which who how when where why please me my about'
  ).split(' '),
);

/** The words of a text, in lower case. */
function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** The most frequent words without stop words, at most `count`. */
export function findKeywords(text: string, count: number): string[] {
  const frequency = new Map<string, number>();
  for (const word of splitWords(text)) {
    if (word.length > 2 && !SMALL_WORDS.has(word)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  }
  return [...frequency]
    .toSorted((one, other) => other[1] - one[1] || one[0].localeCompare(other[0], 'en'))
    .slice(0, count)
    .map(([word]) => word);
}

const SUMMARY_SENTENCES = 3;
/** Most sentences that are compared, because the cost is quadratic. */
const MAX_SENTENCES = 200;

/** An extractive summary: the sentences with most words in common with the others (a simple TextRank). */
export function summarise(text: string): string {
  const found = text.match(/[^.!?。！？\n]+[.!?。！？]?/g) ?? [];
  const sentences = found.map((sentence) => sentence.trim()).filter((sentence) => sentence.length > 20);
  const stored = sentences.slice(0, MAX_SENTENCES);
  if (stored.length <= SUMMARY_SENTENCES) return stored.length === 0 ? text : stored.join(' ');
  const bags = stored.map(
    (sentence) => new Set(splitWords(sentence).filter((word) => !SMALL_WORDS.has(word))),
  );
  const weights = bags.map((bag) =>
    bags.reduce((sum, other) => sum + (other === bag ? 0 : likeness(bag, other)), 0),
  );
  return weights
    .map((weight, index) => ({ weight, index }))
    .toSorted((one, other) => other.weight - one.weight)
    .slice(0, SUMMARY_SENTENCES)
    .toSorted((one, other) => one.index - other.index)
    .map(({ index }) => stored[index] ?? '')
    .join(' ');
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / (Math.log(one.size + 1) + Math.log(other.size + 1));
}

/** Banned words: some that real services refuse, and a harmless one for tests. */
const BANNED_WORDS = ['nsfw-test-banned', 'nude', 'gore', 'bloodbath'];

/** The first banned word of a prompt: whole words, case-insensitive. */
export function findBannedWord(prompt: string): string | null {
  const words = prompt.toLowerCase().split(/[^\w-]+/);
  return BANNED_WORDS.find((banned) => words.includes(banned)) ?? null;
}
