import { transliterate } from 'transliteration';

import { StudioError } from '../types/media-types.ts';

/** The speakable part of a text, in passages for the engine. */
export interface Script {
  /** ASCII, each one or more sentences of at most 400 characters together. */
  readonly passages: readonly string[];
  /** The letters and digits that can't be spoken, in order, at most 200. */
  readonly omitted: string;
}

const LONGEST_PASSAGE = 400;
const MOST_OMITTED = 200;

/**
 * Splits a text into sentences. Other scripts are spoken by their Latin letters (你好 as "Ni Hao"), as a foreigner reads
 * them; letters that have none are left out and reported. Throws NOTHING_TO_SPEAK when nothing is left.
 */
export function readScript(text: string): Script {
  const composed = text.normalize('NFKC');
  const omitted = (composed.match(/[\p{L}\p{N}]/gu) ?? []).filter(
    (letter) => !isSpoken(transliterate(letter)),
  );
  const spoken = transliterate(composed).replaceAll(/[^\p{ASCII}]|\p{Cc}(?<!\n)/gu, ' ');
  const sentences = spoken
    .split(/(?<=[.!?;])\s+|\n+/)
    .flatMap(inPieces)
    .filter(isSpoken);
  if (sentences.length === 0) throw nothingToSpeak();
  return { passages: inPassages(sentences), omitted: omitted.slice(0, MOST_OMITTED).join('') };
}

function isSpoken(text: string): boolean {
  return /[a-z0-9]/i.test(text);
}

/** The error of an unspeakable text. */
export function nothingToSpeak(): StudioError {
  return new StudioError(
    'NOTHING_TO_SPEAK',
    'there is nothing in the text that can be spoken: it has no letters or digits that the voices of the studio can read',
  );
}

/** Joins sentences into passages, because starting the engine takes as long as speaking a sentence. */
function inPassages(sentences: readonly string[]): string[] {
  const passages: string[] = [];
  for (const sentence of sentences) {
    const last = passages.at(-1);
    if (last !== undefined && last.length + 1 + sentence.length <= LONGEST_PASSAGE) {
      passages[passages.length - 1] = `${last} ${sentence}`;
    } else passages.push(sentence);
  }
  return passages;
}

/** Splits a long sentence after a word, and a long word anywhere. */
function inPieces(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence.replaceAll(/\s+/g, ' ').trim();
  while (rest.length > LONGEST_PASSAGE) {
    const space = rest.lastIndexOf(' ', LONGEST_PASSAGE);
    const end = space > 0 ? space : LONGEST_PASSAGE;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end).trim();
  }
  return [...pieces, rest];
}
