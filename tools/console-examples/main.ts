import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import sharp from 'sharp';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStudio } from '../../sandbox/studio/studio.ts';

/**
 * Draws the images of the console's empty Studio into console/examples/, by the sandbox's own studio. `npm run console`
 * runs it when they are not there, or older than what draws them.
 */

const FOLDER = path.join(import.meta.dirname, '../../console/examples');
/** As it is drawn, and as wide as it is shown on dense screens; the weight of all counts, not the last detail. */
const SIZE = { width: 640, height: 400 };
const WIDTH = 480;
const QUALITY = 52;

/** The prompts of the ideas, by their names in the console's texts. */
const IDEAS: Readonly<Record<string, string>> = {
  lighthouse: 'a lighthouse at dawn, calm sea, long light',
  city: 'a city at night in the rain, neon reflections',
  forest: 'misty mountains in the morning, pine forest, soft fog',
  harbour: 'a harbour at dusk, boats, lanterns on the quay',
  aurora: 'northern lights over a snowy lake at night, stars',
  house: 'a small house in a spring meadow, blossoms, morning sun',
};

const studio = createStudio({ workers: 1, size: 'small', logger: silentLogger() });
try {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, prompt] of Object.entries(IDEAS)) {
    const { bytes } = await studio.image({ prompt, size: SIZE, hasCaption: false });
    const small = await sharp(bytes).resize(WIDTH).webp({ quality: QUALITY, effort: 6 }).toBuffer();
    await writeFile(path.join(FOLDER, `${name}.webp`), small);
  }
} finally {
  await studio.close();
}
