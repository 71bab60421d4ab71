import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { expect, it } from 'vitest';

import { caller, renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { MachinesPage } from './machines-page.tsx';

const at = new Date(Date.now() - 3 * 86_400_000).toISOString();
const machine = {
  __typename: 'ComfyServer',
  binding: 'comfy#0',
  address: 'http://a:8188',
  up: true,
  running: 1,
  pending: 2,
  capacity: 4,
  closed: null,
  facts: null,
};
const facts = {
  __typename: 'ComfyFacts',
  versions: { comfyui: '0.4', python: '3.12' },
  classes: ['KSampler', 'VAEDecode', 'SaveImage'],
  loaded: [],
  devices: [
    {
      __typename: 'Device',
      name: 'cuda:0',
      type: 'cuda',
      totalBytes: 24 * 2 ** 30,
      freeBytes: 1.5 * 2 ** 30,
    },
  ],
  models: [
    { __typename: 'Models', loader: 'LoraLoader', files: ['one', 'two'] },
    { __typename: 'Models', loader: 'Checkpoint', files: ['two'] },
  ],
  errors: [{ __typename: 'Failure', at, node: '3', message: 'out of memory' }],
};
const closed = (state: string, reason = '') => ({ __typename: 'Closed', state, reason, by: 'ada', at });

function open(
  servers: readonly object[] | { readonly code: string },
  answers: Parameters<typeof renderOverServer>[0] = {},
) {
  return renderOverServer(
    {
      Caller: () => caller(),
      Machines: () => ('code' in servers ? servers : { comfyServers: servers }),
      ...answers,
    },
    <MachinesPage />,
  );
}

const card = async (address: string) => {
  const heading = await screen.findByText(address);
  return (
    heading.closest<HTMLElement>('header')?.parentElement ??
    heading.parentElement?.parentElement ??
    document.body
  );
};
const offers = async (address: string) =>
  within(await card(address))
    .getAllByRole('button')
    .map(({ textContent }) => textContent);

it('a machine says what it does and has, as far as that is known', async () => {
  open([
    { ...machine, facts },
    { ...machine, address: 'http://b:8188', up: false, running: null, pending: null },
    {
      ...machine,
      address: 'http://c:8188',
      facts: { ...facts, loaded: ['sd15'], errors: [], devices: [{ ...facts.devices[0], freeBytes: null }] },
    },
  ]);
  const one = (await card('http://a:8188')).textContent;
  expect(one).toContain(t('machines.takes'));
  expect(one).toContain(t('machines.queueText', { running: 1, pending: 2 }));
  expect(one).toContain(`cuda:0 (cuda): ${t('machines.free', { free: '1.5', total: '24.0' })}`);
  expect(one).toContain('comfyui 0.4, python 3.12');
  expect(one).toContain(`${t('machines.loaded')}${t('machines.nothing')}`);
  expect(one).toContain(t('machines.models', { count: 2 }));
  expect(one).toContain(t('machines.classes', { count: 3 }));
  expect(one).toContain('3 days ago out of memory');
  const open1 = [...(await card('http://a:8188')).querySelectorAll('details')].map((list) => list.open);
  expect(open1).toEqual([false, false, true]);
  const down = (await card('http://b:8188')).textContent;
  expect(down).toContain(t('machines.down'));
  expect(down).toContain(t('machines.unknown'));
  expect(down).not.toContain(t('machines.versions'));
  const third = await card('http://c:8188');
  expect(third.textContent).toContain(t('machines.free', { free: '?', total: '24.0' }));
  expect(third.textContent).toContain(`${t('machines.loaded')}sd15`);
  expect([...third.querySelectorAll('details')].at(-1)?.open).toBe(false);
});

it('a machine is drained, paused and opened again; what refuses that is said', async () => {
  let isRefused = false;
  const answer = () =>
    isRefused ? { code: 'FORBIDDEN' } : { closeComfyServer: closed('PAUSED'), openComfyServer: 'open' };
  const { askedFor } = open(
    [
      machine,
      {
        ...machine,
        address: 'http://d:8188',
        running: 0,
        pending: 0,
        closed: closed('DRAINING', 'new disks'),
      },
      { ...machine, address: 'http://e:8188', closed: closed('DRAINING') },
      { ...machine, address: 'http://f:8188', closed: closed('PAUSED') },
    ],
    { CloseMachine: answer, OpenMachine: answer },
  );
  const [start, drain, pause] = [t('machines.open'), t('machines.drain'), t('machines.pause')];
  expect(await offers('http://a:8188')).toEqual([drain, pause]);
  expect(await offers('http://d:8188')).toEqual([start, pause]);
  expect(await offers('http://f:8188')).toEqual([start, drain]);
  const states = ['d', 'e', 'f'].map(async (name) => (await card(`http://${name}:8188`)).textContent);
  const [drained, draining, paused] = await Promise.all(states);
  expect(drained).toContain(t('machines.drained'));
  expect(drained).toContain('new disks');
  expect(draining).toContain(t('machines.draining'));
  expect(paused).toContain(t('machines.paused'));
  const press = (words: string, address: string) =>
    fireEvent.click(screen.getByRole('button', { name: `${words} ${address}` }));
  press(drain, 'http://a:8188');
  press(pause, 'http://d:8188');
  await waitFor(() => expect(askedFor('CloseMachine')).toHaveLength(2));
  expect(askedFor('CloseMachine')).toEqual([
    { id: 'http://a:8188', state: 'DRAINING' },
    { id: 'http://d:8188', state: 'PAUSED' },
  ]);
  expect(screen.queryByRole('alert')).toBeNull();
  isRefused = true;
  press(start, 'http://f:8188');
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(askedFor('OpenMachine')).toEqual([{ id: 'http://f:8188' }]);
});

it('none, and that they can not be asked, are said; others than administrators see none', async () => {
  open([]);
  expect(await screen.findByText(t('machines.none'))).toBeDefined();
  open({ code: 'UNAVAILABLE' });
  expect(await screen.findByRole('alert')).toBeDefined();
  const { askedFor } = open([machine], { Caller: () => caller({ mayAdministrate: false }) });
  await waitFor(() => expect(askedFor('Caller')).toHaveLength(1));
  expect(askedFor('Machines')).toEqual([]);
});
