import { screen } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago } from '../../testing/things.ts';
import { ADMINISTRATOR, closeConsole, type Fields, openConsole } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(closeConsole);

const facts = (change: Fields = {}): Fields => ({
  versions: { comfyui: '0.4', python: '3.12' },
  classes: ['KSampler', 'VAEDecode'],
  loaded: ['sd15', 'vae'],
  devices: [
    { name: 'cuda:0', type: 'cuda', totalBytes: 24 * 2 ** 30, freeBytes: 1.5 * 2 ** 30 },
    { name: 'cuda:1', type: 'cuda' },
  ],
  models: [
    { loader: 'LoraLoader', files: ['one', 'two'] },
    { loader: 'Checkpoint', files: ['two'] },
  ],
  errors: [
    { at: ago(120), node: '3', message: 'out of memory' },
    { at: null, node: null, message: 'lost' },
  ],
  ...change,
});
const machine = (name: string, change: Fields = {}): Fields => ({
  binding: 'comfy#0',
  address: `http://${name}:8188`,
  up: true,
  running: 1,
  pending: 2,
  ...change,
});
const closed = (state: string, reason: string): Fields => ({ state, reason, by: 'usr_root', at: ago(60) });

it('shows what each machine does and has, and whether it takes work', async () => {
  await openConsole('/machines', {
    ...ADMINISTRATOR,
    comfyServers: [
      machine('a', { facts: facts() }),
      machine('b', { up: false, running: null, pending: null }),
      machine('c', { closed: closed('DRAINING', 'new disks'), running: 0, pending: 0 }),
      machine('d', { closed: closed('DRAINING', ''), running: 0, pending: 1 }),
      machine('e', { closed: closed('PAUSED', ''), facts: facts({ errors: [], loaded: [], models: [] }) }),
      machine('f', { closed: closed('DRAINING', ''), running: 1, pending: null }),
      machine('g', { closed: closed('DRAINING', ''), running: null, pending: null }),
    ],
  });
  await screen.findByText('http://g:8188');
  await expect(outline()).toMatchFileSnapshot('outlines/machines.txt');
});

it('waits for them, and keeps them for administrators', async () => {
  const { hasAsked } = await openConsole('/machines', {
    ...ADMINISTRATOR,
    comfyServers: () => new Promise(() => undefined),
  });
  await hasAsked('Machines');
  expect(await screen.findByText(t('machines.asking'))).toBeDefined();
  expect(screen.queryByText(t('machines.none'))).toBeNull();
  await closeConsole();
  const { askedFor } = await openConsole('/machines', {});
  expect(await screen.findByText(t('signIn.administrators'))).toBeDefined();
  expect(askedFor('Machines')).toEqual([]);
});
