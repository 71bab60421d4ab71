import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { findChromium, launchChromium } from '../../browser/launch-chromium.ts';
import type { Bench, Figure } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { measureFirstView } from './first-view.ts';
import { measureMemory } from './memory.ts';
import { measureScrolling } from './scrolling.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');

/** Images of the gallery that is scrolled (CONSOLE_IMAGES), and minutes of live progress (CONSOLE_MINUTES). */
const IMAGES = Number(process.env['CONSOLE_IMAGES'] ?? 10_000);
const MINUTES = Number(process.env['CONSOLE_MINUTES'] ?? 10);

/** The console in a headless Chromium: its first view, a long gallery, and its memory under live progress. */
export const consoleBench: Bench = {
  name: 'console',
  async run(tools) {
    const program = findChromium(process.env);
    if (program === null) {
      tools.say('no browser here: set CHROMIUM_PATH, or have chromium on the PATH (CONTRIBUTING.md)');
      return [];
    }
    await run(process.execPath, [path.join(root, 'console/build.ts'), '--if-stale'], { cwd: root });
    const kiln = await startBenchedKiln(tools);
    const browser = await launchChromium(program);
    tools.lifecycle.add('browser', () => browser.close());
    const figures: Figure[] = [];
    const say = (line: string) => tools.say(line);
    for (const page of ['', 'gallery']) {
      figures.push(...(await measureFirstView(browser, `${kiln.url}/console/${page}`, tools.rounds)));
    }
    figures.push(await measureScrolling(browser, kiln, IMAGES, say));
    figures.push(await measureMemory(browser, kiln, MINUTES, say));
    return figures;
  },
};
