import { type FigureName, figuresIn, listHomes } from './figures/figures.ts';
import { createRandom } from './random.ts';

/** The scene of a prompt, as far as this renderer understands it. */
export interface Scene {
  readonly time: 'day' | 'dawn' | 'dusk' | 'night' | 'space';
  readonly ground: 'sea' | 'mountain' | 'city' | 'forest' | 'desert' | 'field' | 'room' | 'none';
  readonly weather: 'clear' | 'rain' | 'snow' | 'fog' | 'stars';
  readonly finish: 'grain' | 'pixel' | 'neon' | 'watercolour' | 'line' | 'noir';
  readonly subjects: readonly (Subject | FigureName)[];
  /** The colour that the prompt names, in degrees; null when it names none. */
  readonly named: number | null;
  /** Degrees; tints everything. */
  readonly hue: number;
}

/** What an image can show besides figures: painters of its own draw it. */
export type Subject =
  | 'lighthouse'
  | 'boat'
  | 'birds'
  | 'figure'
  | 'balloon'
  | 'planet'
  | 'cat'
  | 'house'
  | 'cup'
  | 'flower'
  | 'tree';

type Lexicon<Value> = readonly (readonly [RegExp, Value])[];

const GROUNDS: Lexicon<Scene['ground']> = [
  [/\b(sea|ocean|beach|lighthouse|harbou?r|boat|lake|river|waves?)\b|海|湖|灯塔/, 'sea'],
  [/\b(mountains?|alps|peaks?|hills?|cliffs?)\b|山/, 'mountain'],
  [/\b(city|street|skyline|tower|cyberpunk|tokyo|urban)\b|城|街/, 'city'],
  [/\b(forest|trees?|woods?|jungle|bamboo)\b|森林|树|竹/, 'forest'],
  [/\b(desert|dunes?|sand|pyramids?)\b|沙漠/, 'desert'],
  [/\b(fields?|meadow|garden|farm|flowers?)\b|花|草/, 'field'],
  [/\b(room|kitchen|table|desk|studio|product|shelf|indoors?)\b|室|桌|厨房/, 'room'],
  [/\b(space|galaxy|planets?|nebula)\b|星系|太空/, 'none'],
];
const TIMES: Lexicon<Scene['time']> = [
  [/\b(space|galaxy|planets?|nebula)\b|太空/, 'space'],
  [/\b(night|midnight|moon|neon|cyberpunk)\b|夜|月/, 'night'],
  [/\b(dawn|sunrise|morning)\b|黎明|清晨/, 'dawn'],
  [/\b(dusk|sunset|evening|golden hour)\b|日落|黄昏/, 'dusk'],
  [/\b(day|noon|sunny|summer)\b|白天/, 'day'],
];
const WEATHERS: Lexicon<Scene['weather']> = [
  [/\b(rain|rainy|storm)\b|雨/, 'rain'],
  [/\b(snow|snowy|winter|ice)\b|雪/, 'snow'],
  [/\b(fog|foggy|mist|misty|haze)\b|雾/, 'fog'],
  [/\bstars?\b|星/, 'stars'],
];
const FINISHES: Lexicon<Scene['finish']> = [
  [/\bpixel|8-bit|retro game|像素/, 'pixel'],
  [/\b(neon|cyberpunk|synthwave)\b|霓虹/, 'neon'],
  [/\bwatercolou?r|aquarelle|水彩/, 'watercolour'],
  [/\b(line art|sketch|ink)\b|素描|水墨/, 'line'],
  [/\b(noir|black and white|monochrome)\b|黑白/, 'noir'],
];
const SUBJECTS: Lexicon<Subject> = [
  [/\blighthouses?\b|灯塔/, 'lighthouse'],
  [/\b(boats?|ships?|sails?)\b|船/, 'boat'],
  [/\b(birds?|seagulls?|cranes?)\b|鸟/, 'birds'],
  [/\b(person|man|woman|girl|boy|lady|people|travell?er)\b|人|女孩/, 'figure'],
  [/\bballoons?\b|气球/, 'balloon'],
  [/\bplanets?\b|行星/, 'planet'],
  [/\b(cats?|kittens?)\b|猫/, 'cat'],
  [/\b(houses?|cabins?|barns?)\b|屋/, 'house'],
  [/\b(tea|coffee|cups?|mugs?)\b|茶|咖啡|杯/, 'cup'],
  [/\b(flowers?|rose|tulips?|bouquet)\b|花/, 'flower'],
  [/\b(trees?|oak|pine)\b|树/, 'tree'],
];
const HUES: Lexicon<number> = [
  [/\b(red|crimson)\b|红/, 0],
  [/\b(orange|amber)\b|橙/, 28],
  [/\b(gold|golden|yellow)\b|黄|金/, 45],
  [/\b(green|emerald)\b|绿/, 135],
  [/\b(teal|cyan|turquoise)\b|青/, 180],
  [/\b(blue|azure)\b|蓝/, 215],
  [/\b(purple|violet)\b|紫/, 275],
  [/\b(pink|magenta|rose)\b|粉/, 325],
];

const BASE_HUE: Readonly<Record<Scene['time'], number>> = {
  dawn: 20,
  dusk: 12,
  day: 205,
  night: 235,
  space: 265,
};
const ANY_GROUND = ['mountain', 'sea', 'field', 'city', 'forest'] as const;
const ANY_TIME = ['dawn', 'dusk', 'day', 'night'] as const;

/** Parses a prompt (English and Chinese words); the seed decides what it leaves open. */
export function readPrompt(prompt: string, seed: number): Scene {
  const text = prompt.toLowerCase();
  const random = createRandom(seed);
  const grounds = homesFor(text);
  const anyGround = grounds[Math.floor(random() * grounds.length)] ?? 'mountain';
  const anyTime = ANY_TIME[Math.floor(random() * ANY_TIME.length)] ?? 'day';
  const time = first(TIMES, text) ?? anyTime;
  return {
    time,
    ground: first(GROUNDS, text) ?? anyGround,
    weather: first(WEATHERS, text) ?? 'clear',
    finish: first(FINISHES, text) ?? 'grain',
    subjects: subjectsIn(text),
    named: first(HUES, text) ?? null,
    hue: first(HUES, text) ?? BASE_HUE[time] + Math.floor(random() * 100 - 50),
  };
}

/** Where the image may be set when the prompt does not say: where its first figure is found. */
function homesFor(text: string): readonly Scene['ground'][] {
  const [figure] = figuresIn(text);
  if (figure !== undefined) return listHomes(figure);
  return SUBJECTS.some(([words, subject]) => subject === 'cup' && words.test(text)) ? ['room'] : ANY_GROUND;
}

/** Most subjects of one image. */
const MOST_SUBJECTS = 5;

/** What the prompt names; a cup of tea is no teapot's, so that figures go first. */
function subjectsIn(text: string): Scene['subjects'] {
  const own = SUBJECTS.filter(([words]) => words.test(text)).map(([, subject]) => subject);
  return [...figuresIn(text), ...own].slice(0, MOST_SUBJECTS);
}

function first<Value>(lexicon: Lexicon<Value>, text: string): Value | undefined {
  return lexicon.find(([words]) => words.test(text))?.[1];
}
