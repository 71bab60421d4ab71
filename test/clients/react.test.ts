import { createHash } from 'node:crypto';

import { createElement } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { createKiln, type Kiln } from '../../clients/typescript/src/index.ts';
import { useTask, useTasks } from '../../clients/typescript/src/react.ts';
import { openPage, type Page } from '../kit/clients/page.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** The hooks in React's own renderer, over a whole Kiln. */

const KEY = 'kiln_key-of-the-hooks';

let server: KilnUnderTest;
let kiln: Kiln;
let page: Page;
let root: Root;
beforeAll(async () => {
  server = await startKiln({
    settings: { SERVICE_KEYS: `hooks=${createHash('sha256').update(KEY).digest('hex')}` },
  });
  kiln = createKiln({ url: server.url, key: KEY });
  page = openPage();
  root = createRoot(page.document.body);
});
afterAll(async () => {
  root?.unmount();
  // React takes it down in its own time, and looks for the window as it does.
  await vi.waitUntil(() => text() === '', { timeout: 100_000 });
  await page?.close();
  await server?.close();
});

const text = () => page.document.body.textContent;

it('useTask shows a task to its end', async () => {
  function Progress({ id }: { readonly id: string }) {
    const { task, error } = useTask(kiln, id);
    return createElement('p', null, error?.message ?? `${task?.state} ${task?.outputs.length}`);
  }
  const { id } = await kiln.generate('image', { generator: 'imga', prompt: 'a lighthouse' });
  root.render(createElement(Progress, { id }));
  await expect.poll(text).toBe('SUCCEEDED 1');
  root.render(createElement(Progress, { id: '01a201f1-917f-7793-a864-b9a7e64fc940' }));
  await expect.poll(text).toContain('no task');
});

it('useTasks shows tasks that start later as well', async () => {
  function List() {
    const { tasks = [], error } = useTasks(kiln, { first: 2 });
    return createElement('p', null, error?.message ?? tasks.map(({ id, state }) => `${id} ${state}`).join());
  }
  root.render(createElement(List));
  await expect.poll(text).toContain('SUCCEEDED');
  const { id } = await kiln.generate('image', { generator: 'imga', prompt: 'another lighthouse' });
  await expect.poll(text).toMatch(new RegExp(`^${id} SUCCEEDED,`));
  await kiln.generate('image', { generator: 'imga', prompt: 'a third lighthouse' });
  await expect.poll(() => text()?.split(',').length).toBe(2);
});
