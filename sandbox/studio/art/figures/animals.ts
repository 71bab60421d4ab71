import { INK, type Colour, type Figure, type Paint, type Part } from './figure.ts';

/** Animals on four legs, of one build: body, legs, head, ears and tail. */

const WHITE: Colour = [40, 20, 93];

interface Build {
  readonly main: Colour;
  readonly ears: 'pointed' | 'round' | 'long' | 'flat';
  readonly tail: 'bushy' | 'thin' | 'stub' | 'none';
  readonly muzzle?: 'long' | 'short' | 'snout' | 'trunk';
  /** How long legs and neck are. */
  readonly legs?: number;
  readonly neck?: number;
  readonly belly?: Paint;
  readonly extra?: readonly Part[];
  readonly size?: number;
}

function onFourLegs(build: Build): Figure {
  const { main, ears, tail, muzzle = 'long', legs = 0.55, neck = 0, belly, extra = [], size } = build;
  const body = legs + 0.3;
  const head = body + 0.42 + neck;
  const limbs: Part[] = [-0.48, -0.3, 0.3, 0.48].map((x, index) => [
    'line',
    [x, body, x, 0.06],
    0.15,
    index % 2 === 0 ? 'dark' : 'main',
  ]);
  return {
    main,
    ...(size !== undefined && { size }),
    parts: [
      ...TAILS[tail](body),
      ...limbs,
      ['oval', 0, body, 0.66, 0.34, 'main'],
      ...(belly === undefined ? [] : ([['oval', 0.05, body - 0.14, 0.45, 0.16, belly]] as const)),
      ['line', [0.45, body + 0.1, 0.66, head], 0.28, 'main'],
      ...drawEars(ears, head),
      ['oval', 0.68, head, 0.29, 0.26, 'main'],
      ...MUZZLES[muzzle](head, belly ?? 'light'),
      ['oval', 0.72, head + 0.06, 0.045, 0.055, INK],
      ...extra,
    ],
  };
}

const TAILS: Readonly<Record<Build['tail'], (body: number) => readonly Part[]>> = {
  bushy: (y) => [
    ['oval', -0.88, y + 0.06, 0.36, 0.15, 'main', -0.6],
    ['oval', -1.06, y + 0.2, 0.14, 0.1, WHITE, -0.6],
  ],
  thin: (y) => [['line', [-0.6, y + 0.1, -0.84, y - 0.1, -0.86, y - 0.4], 0.06, 'dark']],
  stub: (y) => [['oval', -0.68, y + 0.1, 0.12, 0.11, 'light']],
  none: () => [],
};

function drawEars(ears: Build['ears'], head: number): readonly Part[] {
  if (ears === 'round') {
    return [
      ['oval', 0.5, head + 0.22, 0.12, 0.12, 'dark'],
      ['oval', 0.8, head + 0.24, 0.12, 0.12, 'main'],
    ];
  }
  if (ears === 'long') {
    return [
      ['oval', 0.52, head + 0.48, 0.09, 0.34, 'main', -0.15],
      ['oval', 0.74, head + 0.5, 0.09, 0.34, 'main', 0.1],
      ['oval', 0.74, head + 0.48, 0.04, 0.24, [350, 50, 78], 0.1],
    ];
  }
  if (ears === 'flat') return [['oval', 0.48, head + 0.02, 0.12, 0.24, 'dark', 0.3]];
  return [
    ['poly', [0.44, head + 0.12, 0.5, head + 0.52, 0.68, head + 0.2], 'dark'],
    ['poly', [0.66, head + 0.18, 0.82, head + 0.54, 0.9, head + 0.14], 'main'],
  ];
}

const MUZZLES: Readonly<
  Record<NonNullable<Build['muzzle']>, (head: number, paint: Paint) => readonly Part[]>
> = {
  long: (y, paint) => [
    ['poly', [0.78, y + 0.1, 1.16, y - 0.08, 0.78, y - 0.2], paint],
    ['oval', 1.14, y - 0.07, 0.05, 0.05, INK],
  ],
  short: (y, paint) => [
    ['oval', 0.86, y - 0.09, 0.15, 0.11, paint],
    ['oval', 0.95, y - 0.05, 0.045, 0.04, INK],
  ],
  snout: (y) => [
    ['oval', 0.96, y - 0.06, 0.12, 0.13, 'light'],
    ['oval', 0.99, y - 0.04, 0.02, 0.03, INK],
  ],
  trunk: (y) => [['line', [0.88, y, 1.1, y - 0.3, 1.08, y - 0.75, 1.2, y - 0.85], 0.15, 'main']],
};

const stripes: readonly Part[] = [-0.4, -0.2, 0, 0.2].map((x) => [
  'line',
  [x, 1.12, x + 0.06, 0.72],
  0.06,
  INK,
]);
const spots: readonly Part[] = [
  ['oval', -0.35, 1, 0.16, 0.12, INK],
  ['oval', 0.1, 0.85, 0.18, 0.11, INK],
  ['oval', 0.35, 1.05, 0.1, 0.08, INK],
];
const antler = (y: number): readonly Part[] => [
  ['line', [0.6, y, 0.5, y + 0.4, 0.36, y + 0.55], 0.05, [30, 35, 30]],
  ['line', [0.53, y + 0.28, 0.66, y + 0.5], 0.05, [30, 35, 30]],
  ['line', [0.8, y, 0.92, y + 0.4, 1.04, y + 0.55], 0.05, [30, 35, 30]],
];

/** Their figures by name. */
export const animals = {
  fox: onFourLegs({ main: [20, 82, 52], ears: 'pointed', tail: 'bushy', belly: WHITE }),
  dog: onFourLegs({ main: [30, 45, 48], ears: 'flat', tail: 'thin', muzzle: 'short' }),
  wolf: onFourLegs({ main: [215, 10, 46], ears: 'pointed', tail: 'bushy', belly: [215, 10, 75] }),
  horse: onFourLegs({
    main: [22, 48, 34],
    ears: 'pointed',
    tail: 'thin',
    legs: 0.75,
    neck: 0.3,
    extra: [['line', [0.4, 1.5, 0.52, 1.85, 0.6, 2], 0.12, INK]],
    size: 1.15,
  }),
  cow: onFourLegs({ main: [40, 15, 90], ears: 'flat', tail: 'thin', muzzle: 'snout', extra: spots }),
  pig: onFourLegs({ main: [345, 62, 78], ears: 'round', tail: 'stub', muzzle: 'snout', legs: 0.35 }),
  sheep: onFourLegs({
    main: [40, 20, 90],
    ears: 'flat',
    tail: 'stub',
    muzzle: 'short',
    legs: 0.4,
    extra: [-0.45, -0.15, 0.15, 0.42].map((x) => ['oval', x, 0.88, 0.24, 0.26, WHITE] as const),
  }),
  bear: onFourLegs({
    main: [25, 45, 27],
    ears: 'round',
    tail: 'stub',
    muzzle: 'short',
    legs: 0.42,
    size: 1.2,
  }),
  rabbit: onFourLegs({
    main: [30, 22, 66],
    ears: 'long',
    tail: 'stub',
    muzzle: 'short',
    legs: 0.28,
    size: 0.8,
  }),
  deer: onFourLegs({
    main: [27, 52, 45],
    ears: 'pointed',
    tail: 'stub',
    legs: 0.72,
    neck: 0.25,
    extra: antler(1.8),
  }),
  lion: onFourLegs({
    main: [38, 65, 55],
    ears: 'round',
    tail: 'thin',
    muzzle: 'short',
    extra: [
      ['oval', 0.62, 1.27, 0.46, 0.44, [24, 65, 34]],
      ['oval', 0.7, 1.27, 0.28, 0.26, 'main'],
      ['oval', 0.88, 1.18, 0.14, 0.1, 'light'],
      ['oval', 0.74, 1.33, 0.045, 0.05, INK],
      ['oval', 0.98, 1.22, 0.05, 0.04, INK],
    ],
  }),
  tiger: onFourLegs({ main: [28, 88, 55], ears: 'round', tail: 'thin', muzzle: 'short', extra: stripes }),
  zebra: onFourLegs({
    main: [40, 10, 92],
    ears: 'pointed',
    tail: 'thin',
    legs: 0.7,
    neck: 0.2,
    extra: stripes,
  }),
  elephant: onFourLegs({
    main: [215, 10, 55],
    ears: 'flat',
    tail: 'thin',
    muzzle: 'trunk',
    legs: 0.45,
    size: 1.25,
  }),
  giraffe: onFourLegs({
    main: [42, 75, 60],
    ears: 'round',
    tail: 'thin',
    legs: 0.65,
    neck: 0.7,
    size: 0.95,
    extra: spots.map((part) => [...part.slice(0, -1), [26, 55, 35]] as unknown as Part),
  }),
  mouse: onFourLegs({ main: [220, 6, 58], ears: 'round', tail: 'thin', legs: 0.2, size: 0.6 }),
  camel: onFourLegs({
    main: [36, 50, 58],
    ears: 'round',
    tail: 'thin',
    legs: 0.7,
    neck: 0.2,
    extra: [['oval', -0.05, 1.32, 0.3, 0.26, 'main']],
  }),
} satisfies Readonly<Record<string, Figure>>;
