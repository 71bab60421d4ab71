/** Values of fields where a model names none of its own. */

/** Shapes. */
export const COMMON_RATIOS: readonly string[] = [
  '1:1',
  '3:2',
  '4:3',
  '16:9',
  '21:9',
  '2:3',
  '3:4',
  '4:5',
  '9:16',
];

/** How fast it is made. */
export const SPEED_MODES: readonly string[] = ['fast', 'turbo', 'relax'];
