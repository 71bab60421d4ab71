import { box, INK, type Colour, type Figure, type Part } from './figure.ts';

/** Vehicles and machines. */

const GLASS: Colour = [200, 55, 80];
const wheel = (x: number, radius = 0.2): readonly Part[] => [
  ['oval', x, radius, radius, radius, INK],
  ['oval', x, radius, radius * 0.45, radius * 0.45, [0, 0, 70]],
];
const windows = (from: number, count: number, y: number): readonly Part[] =>
  Array.from({ length: count }, (_, index): Part => [
    'poly',
    box(from + index * 0.36, y, from + index * 0.36 + 0.26, y + 0.3),
    GLASS,
  ]);

/** Their figures by name. */
export const vehicles = {
  car: {
    main: [4, 76, 48],
    parts: [
      ['poly', [-0.55, 0.55, -0.32, 0.98, 0.32, 0.98, 0.6, 0.55], 'dark'],
      ['poly', [-0.42, 0.58, -0.25, 0.9, 0, 0.9, 0, 0.58], GLASS],
      ['poly', [0.06, 0.58, 0.06, 0.9, 0.28, 0.9, 0.46, 0.58], GLASS],
      ['poly', box(-0.98, 0.2, 0.98, 0.6), 'main'],
      ['oval', 0.9, 0.46, 0.08, 0.06, [50, 95, 75]],
      ...wheel(-0.55),
      ...wheel(0.55),
    ],
  },
  bus: {
    main: [45, 88, 52],
    size: 1.15,
    parts: [
      ['poly', box(-1, 0.2, 1, 1.05), 'main'],
      ...windows(-0.9, 5, 0.62),
      ...wheel(-0.6),
      ...wheel(0.6),
    ],
  },
  train: {
    main: [355, 60, 40],
    size: 1.1,
    parts: [
      ['poly', box(-1, 0.25, 0.5, 0.75), 'main'],
      ['poly', box(-1, 0.25, -0.45, 1.2), 'dark'],
      ['poly', box(-0.9, 0.75, -0.58, 1.05), GLASS],
      ['poly', box(0.2, 0.75, 0.4, 1.1), INK],
      ['oval', 0.3, 1.35, 0.22, 0.16, [210, 10, 88]],
      ['oval', 0.05, 1.55, 0.28, 0.2, [210, 10, 92]],
      ...wheel(-0.7, 0.18),
      ...wheel(-0.2, 0.18),
      ...wheel(0.3, 0.18),
    ],
  },
  bicycle: {
    main: [205, 75, 45],
    size: 0.95,
    parts: [
      ['oval', -0.55, 0.4, 0.4, 0.4, INK],
      ['oval', -0.55, 0.4, 0.34, 0.34, [205, 15, 80]],
      ['oval', 0.55, 0.4, 0.4, 0.4, INK],
      ['oval', 0.55, 0.4, 0.34, 0.34, [205, 15, 80]],
      ['line', [-0.55, 0.4, -0.22, 0.95, 0.36, 0.95, 0.02, 0.4, -0.55, 0.4], 0.07, 'main'],
      ['line', [-0.22, 0.95, 0.02, 0.4], 0.07, 'main'],
      ['line', [0.55, 0.4, 0.34, 1.15, 0.52, 1.2], 0.07, 'main'],
      ['line', [-0.36, 1.02, -0.1, 1.02], 0.1, INK],
    ],
  },
  plane: {
    main: [210, 20, 90],
    lift: 1.4,
    parts: [
      ['poly', [-0.9, 0.6, -1.1, 1.1, -0.8, 1.1, -0.6, 0.6], [5, 75, 48]],
      ['oval', 0, 0.55, 1, 0.2, 'main'],
      ['poly', [0.2, 0.5, -0.4, -0.1, -0.6, -0.1, -0.25, 0.5], 'dark'],
      ...[-0.4, -0.15, 0.1, 0.35].map((x): Part => ['oval', x, 0.62, 0.06, 0.06, GLASS]),
    ],
  },
  rocket: {
    main: [40, 10, 92],
    size: 1.1,
    lift: 0.35,
    parts: [
      ['poly', [-0.18, 0.1, 0, -0.5, 0.18, 0.1], [30, 95, 58]],
      ['poly', [-0.28, 0.6, -0.6, 0.05, -0.24, 0.15], [5, 78, 48]],
      ['poly', [0.28, 0.6, 0.6, 0.05, 0.24, 0.15], [5, 78, 48]],
      ['oval', 0, 0.85, 0.32, 0.85, 'main'],
      ['poly', [-0.24, 1.4, 0, 1.9, 0.24, 1.4], [5, 78, 48]],
      ['oval', 0, 1.05, 0.15, 0.15, GLASS],
    ],
  },
  robot: {
    main: [205, 15, 68],
    parts: [
      ['poly', box(-0.3, 0, -0.1, 0.5), 'dark'],
      ['poly', box(0.1, 0, 0.3, 0.5), 'dark'],
      ['line', [-0.5, 1.05, -0.78, 0.6], 0.14, 'dark'],
      ['line', [0.5, 1.05, 0.78, 0.6], 0.14, 'dark'],
      ['poly', box(-0.5, 0.45, 0.5, 1.2), 'main'],
      ['poly', box(-0.38, 1.28, 0.38, 1.82), 'light'],
      ['oval', -0.16, 1.58, 0.1, 0.1, [185, 90, 55]],
      ['oval', 0.16, 1.58, 0.1, 0.1, [185, 90, 55]],
      ['line', [0, 1.82, 0, 2], 0.05, 'dark'],
      ['oval', 0, 2.02, 0.07, 0.07, [5, 85, 55]],
      ['oval', 0, 0.85, 0.14, 0.14, [45, 95, 58]],
    ],
  },
} satisfies Readonly<Record<string, Figure>>;
