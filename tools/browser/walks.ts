import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Browser } from 'playwright-core';

import type { Steps } from './steps.ts';
import { walkChinese } from './walk-chinese.ts';
import { walkConnection } from './walk-connection.ts';
import { walkConsole } from './walk-console.ts';
import { walkDocs } from './walk-docs.ts';
import { walkExplorer } from './walk-explorer.ts';
import { walkFirstMinutes } from './walk-first-minutes.ts';
import { walkGallery } from './walk-gallery.ts';
import { walkKept } from './walk-kept.ts';
import { walkKeys } from './walk-keys.ts';
import { walkModels } from './walk-models.ts';
import { walkPeople } from './walk-people.ts';
import { walkProduction } from './walk-production.ts';
import { walkBack, walkPurchase } from './walk-purchase.ts';
import { walkSession } from './walk-session.ts';
import { walkShop } from './walk-shop.ts';
import { walkSignIn } from './walk-sign-in.ts';
import { walkSigned } from './walk-signed.ts';
import { walkStart } from './walk-start.ts';
import { walkStudio } from './walk-studio.ts';
import { walkTasks } from './walk-tasks.ts';
import { walkWorkflows } from './walk-workflows.ts';
import { openPage } from './watch-page.ts';

/** A Kiln to walk through, and what it printed at its start. */
export interface Started {
  readonly url: string;
  readonly browser: Browser;
  readonly steps: Steps;
  /** The service key of the development server. */
  readonly key: string;
  /** Signs a browser in as the administrator, once. */
  readonly address: string;
}

/** Every walk by its name, in the order in which they are made on one Kiln; each can be made alone. */
export const WALKS: Readonly<Record<string, (started: Started) => Promise<void>>> = {
  console: ({ url, browser, steps, key }) => walkConsole(url, browser, steps, key),
  keys: ({ url, browser, steps }) => walkKeys(url, browser, steps),
  studio: ({ url, browser, steps }) => walkStudio(url, browser, steps),
  kept: ({ url, browser, steps }) => walkKept(url, browser, steps),
  tasks: ({ url, browser, steps, key }) => walkTasks(url, browser, steps, key),
  connection: ({ url, browser, steps, key }) => walkConnection(url, browser, steps, key),
  session: ({ url, browser, steps, address }) => walkSession(url, browser, steps, address),
  signed: ({ url, browser, steps, key }) => walkSigned(url, browser, steps, key),
  shop: ({ url, browser, steps, key }) => walkShop(url, browser, steps, key),
  people: ({ url, browser, steps, key }) => walkPeople(url, browser, steps, key),
  models: ({ url, browser, steps, key }) => walkModels(url, browser, steps, key),
  workflows: ({ url, browser, steps, key }) => walkWorkflows(url, browser, steps, key),
  start: ({ url, browser, steps, key }) => walkStart(url, browser, steps, key),
  gallery: ({ url, browser, steps, key }) => walkGallery(url, browser, steps, key),
  chinese: ({ url, browser, steps, key }) => walkChinese(url, browser, steps, key),
  app: walkApp,
};

/** Walks over Kilns of their own, which each starts as it needs it; those that need the registry of npm are made by name only. */
export const WALKS_APART: Readonly<Record<string, WalkApart>> = {
  production: { walk: walkProduction, byNameOnly: false },
  'first-minutes': { walk: walkFirstMinutes, byNameOnly: true },
};

interface WalkApart {
  readonly walk: (browser: Browser, steps: Steps) => Promise<void>;
  readonly byNameOnly: boolean;
}

/** The card that is declined on purpose, and the icon that browsers ask for by themselves. */
const EXPECTED = /402 \(Payment Required\)|favicon\.ico/;

/** An app of somebody else: sign-in, purchases, and the pages that are no console. */
async function walkApp({ url, browser, steps }: Started): Promise<void> {
  const app = await readFile(path.join(import.meta.dirname, 'app.html'), 'utf8');
  const watched = await openPage(browser, { origin: url, pages: { '/walk/app': app } });
  const { page } = watched;
  await walkSignIn(url, page, steps);
  await walkPurchase(url, page, steps, { template: 'poster', kind: 'image' });
  await walkPurchase(url, page, steps, { template: 'clip', kind: 'video' });
  await walkBack(url, page, steps, 'poster');
  await walkExplorer(url, watched, steps);
  await walkDocs(url, watched, steps);
  await watched.finish(steps, 'app', EXPECTED);
}
