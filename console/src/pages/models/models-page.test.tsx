import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createModel } from '../../testing/things.ts';
import { submit } from '../../testing/use.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  NOW,
  openConsole,
  refusal,
} from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { limitsText, tp } from './texts.ts';

afterEach(closeConsole);

const later = (seconds: number) => ago(-seconds);
const binding = (provider: string, change: Fields = {}): Fields => ({
  binding: `image:${provider}`,
  generator: `of-${provider}`,
  provider,
  sandbox: false,
  settings: `${provider.toUpperCase()}_KEY`,
  concurrency: 8,
  waiting: 0,
  open: 0,
  attempts: 0,
  succeeded: 0,
  ...change,
});
const model = (name: string, provider: string, change: Fields = {}) =>
  createModel({ id: `${provider} ${name}`, model: name, name, provider, sandbox: false, ...change });
const breaker = (until: string | null, lastError: string | null): Fields => ({
  open: true,
  until,
  lastError,
});
const paused = { reason: 'too dear', by: 'usr_root', at: ago(120) };
const bindings = [
  binding('openai', {
    attempts: 8,
    succeeded: 6,
    p50: 1.2,
    p95: 70,
    waiting: 3,
    open: 2,
    errors: { TIMED_OUT: 1, of_its_own: 1 },
    lastErrorAt: ago(60),
    lastError: 'took too long',
  }),
  binding('kling', {
    sandbox: true,
    paused,
    settings: 'KLING_ACCESS_KEY and KLING_SECRET_KEY, or KLING_KEY',
  }),
  binding('fal', { breaker: breaker(later(90), 'it is away') }),
  binding('hedra', { breaker: breaker(ago(5), null), attempts: 1, succeeded: 1, p50: 0.5 }),
  binding('gemini', { attempts: 4, succeeded: 4 }),
  binding('gemini', { binding: 'video:gemini', sandbox: true }),
];
const models = [
  model('large', 'openai', { retiresAt: '2026-10-01', kinds: ['IMAGE', 'VIDEO'] }),
  model('small', 'openai', { retiresAt: '2026-12-01' }),
  model('toy', 'mock', { sandbox: true, retiresAt: '2026-09-02' }),
];
const hour = (name: string, hours: number, attempts: number, succeeded: number): Fields => ({
  binding: name,
  hour: new Date(NOW.getTime() - hours * 3_600_000).toISOString(),
  attempts,
  succeeded,
});
const administrated: Fields = {
  ...ADMINISTRATOR,
  models,
  providerHealth: bindings,
  providerHours: [
    hour('image:openai', 0, 100, 75),
    hour('image:openai', 2, 1, 1),
    hour('image:openai', 3, 40, 39),
    hour('image:kling', 1, 9, 9),
  ],
  comfyServers: [
    { binding: 'comfy#0', address: 'http://a:8188', up: true, running: 1, pending: 2, capacity: 4 },
    { binding: 'comfy#0', address: 'http://b:8188', up: true, running: 3, pending: 9, capacity: 4 },
    { binding: 'comfy#1', address: 'http://c:8188', up: false },
  ],
  health: {
    version: '1.2.3',
    checks: { database: 'ok', of_its_own: { late: 3 } },
    generators: [
      { generator: 'speech', state: 'not available', setting: 'A_KEY and B_KEY' },
      { generator: 'faces', state: 'not available' },
      { generator: 'image', state: 'ready' },
    ],
  },
};
const card = async (name: string) =>
  within(
    await waitFor(() => {
      const found = document.querySelector<HTMLElement>(`article[aria-label="${name}"]`);
      if (found === null) throw new Error(`there is no ${name}`);
      return found;
    }),
  );
const unfold = (list: HTMLDetailsElement) => {
  list.open = true;
  fireEvent(list, new Event('toggle'));
};
const search = (value: string) =>
  fireEvent.change(screen.getByLabelText(t('models.search')), { target: { value } });

it('tells administrators how each provider does, those that need somebody first', async () => {
  await openConsole('/models', administrated);
  await screen.findByText('Kiln 1.2.3');
  await screen.findByText('http://c:8188');
  for (const list of document.querySelectorAll('details')) unfold(list);
  await screen.findByText('took too long');
  await screen.findByText('large');
  await expect(outline()).toMatchFileSnapshot('outlines/providers.txt');
  const plot = document.querySelector('article[aria-label=OpenAI] svg[role=img]');
  const bars = [...(plot?.querySelectorAll('rect') ?? [])].map((bar) =>
    ['class', 'x', 'y', 'width', 'height'].map((name) => bar.getAttribute(name)).join(' '),
  );
  await expect(`${bars.join('\n')}\n`).toMatchFileSnapshot('outlines/day-plot.txt');
});

it('shows everybody the models, whose lists are unfolded by a press', async () => {
  const { askedFor } = await openConsole('/models', { models });
  const openai = await card('OpenAI');
  expect(openai.queryByText('large')).toBeNull();
  const folded = openai.getByRole<HTMLDetailsElement>('group');
  // Folding it says nothing new.
  fireEvent(folded, new Event('toggle'));
  expect(openai.queryByText('large')).toBeNull();
  unfold(folded);
  expect(await openai.findByText('large')).toBeDefined();
  await waitFor(() => expect(document.querySelectorAll('article')).toHaveLength(2));
  await expect(outline()).toMatchFileSnapshot('outlines/models.txt');
  expect([askedFor('Providers'), askedFor('ProviderHours')]).toEqual([[], []]);
});

it('finds models by their words, which the address keeps', async () => {
  const { address } = await openConsole('/models?find=Small', administrated);
  expect(await (await card('OpenAI')).findByText('small')).toBeDefined();
  expect(screen.queryByText('large')).toBeNull();
  await waitFor(() => expect(document.querySelectorAll('article')).toHaveLength(1));
  // What is not looked for is not told either.
  expect(screen.queryByText(t('providers.missing'))).toBeNull();
  search('toy');
  expect(await (await card('mock')).findByText('toy')).toBeDefined();
  expect(address()).toBe('/models?find=toy');
  search('nothing like it');
  expect(await screen.findByText(t('studio.noModel'))).toBeDefined();
  search('');
  await waitFor(() => expect(address()).toBe('/models'));
  await waitFor(() => expect(document.querySelectorAll('article')).toHaveLength(6));
  expect(screen.queryByText(t('studio.noModel'))).toBeNull();
  expect(await screen.findByText(t('providers.missing'))).toBeDefined();
});

it('pauses a connection with a reason, unless that is given up', async () => {
  const { askedFor, hasAsked } = await openConsole('/models', {
    ...administrated,
    providerHealth: [binding('openai', { breaker: breaker(later(90), 'away') })],
    pauseBinding: binding('openai', { paused }),
  });
  const name = `${t('providers.pause')} image:openai`;
  const reason = () => screen.findByLabelText<HTMLInputElement>(`${t('providers.reason')} image:openai`);
  for (const leave of [
    async () => fireEvent.click(screen.getByText(t('providers.cancel'))),
    async () => fireEvent.keyDown(await reason(), { key: 'Escape' }),
  ]) {
    fireEvent.click(await screen.findByLabelText(name));
    fireEvent.keyDown(await reason(), { key: 'a' });
    expect((await reason()).maxLength).toBe(200);
    await expect(outline((await reason()).form)).toMatchFileSnapshot('outlines/pause.txt');
    await leave();
    await waitFor(() => expect(document.querySelector('li form')).toBeNull());
  }
  fireEvent.click(await screen.findByLabelText(name));
  fireEvent.change(await reason(), { target: { value: 'too dear' } });
  submit((await reason()).form);
  await hasAsked('PauseBinding');
  expect(askedFor('PauseBinding')).toEqual([{ binding: 'image:openai', reason: 'too dear' }]);
  // How they do is asked for again.
  await hasAsked('Providers', 2);
  expect(document.querySelector('li form')).toBeNull();
});

it('resumes a connection, and says what is refused', async () => {
  let isRefused = true;
  const { askedFor, hasAsked } = await openConsole('/models', {
    ...administrated,
    providerHealth: [binding('openai', { paused: { ...paused, reason: '' } })],
    resumeBinding: () => {
      if (isRefused) throw refusal('FORBIDDEN');
      return binding('openai');
    },
  });
  const resume = () => screen.findByLabelText<HTMLButtonElement>(`${t('providers.resume')} image:openai`);
  fireEvent.click(await resume());
  expect(await screen.findByRole('alert')).toBeDefined();
  isRefused = false;
  fireEvent.click(await resume());
  await hasAsked('ResumeBinding', 2);
  expect(askedFor('ResumeBinding')[0]).toEqual({ binding: 'image:openai' });
  await hasAsked('Providers', 2);
});

it('says that a pause is refused', async () => {
  await openConsole('/models', {
    ...administrated,
    providerHealth: [binding('openai', { breaker: breaker(later(90), 'away') })],
    pauseBinding: () => {
      throw refusal('FORBIDDEN');
    },
  });
  fireEvent.click(await screen.findByLabelText(`${t('providers.pause')} image:openai`));
  const reason = await screen.findByLabelText<HTMLInputElement>(`${t('providers.reason')} image:openai`);
  submit(reason.form);
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('says how to connect a provider that the sandbox stands in for', async () => {
  await openConsole('/models', administrated);
  const kling = await card('Kling');
  fireEvent.click(kling.getByText(tp('providers.connect')));
  await kling.findByText(tp('providers.connectWays'));
  await expect(outline(document.querySelector('article[aria-label=Kling] footer'))).toMatchFileSnapshot(
    'outlines/connect.txt',
  );
  fireEvent.click(kling.getByText(tp('providers.connect')));
  await waitFor(() => expect(kling.queryByText(tp('providers.connectWays'))).toBeNull());
  const gemini = await card('Google Gemini');
  fireEvent.click(gemini.getByText(tp('providers.connect')));
  expect(await gemini.findByText(tp('providers.connectText'))).toBeDefined();
  expect((await card('OpenAI')).queryByText(tp('providers.connect'))).toBeNull();
});

it('shows the models where nobody knows how providers do', async () => {
  await openConsole('/models', {
    ...administrated,
    providerHealth: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(await card('OpenAI')).toBeDefined();
  expect(screen.queryByRole('figure')).toBeNull();
});

it('says that models cannot be asked', async () => {
  await openConsole('/models', {
    models: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('studio.noModel'))).toBeNull();
});

it('waits with its cards for how providers do', async () => {
  let answer: (value: readonly Fields[]) => void = () => undefined;
  const { hasAsked } = await openConsole('/models', {
    ...administrated,
    providerHealth: () => new Promise<readonly Fields[]>((resolve) => (answer = resolve)),
  });
  await hasAsked('Providers');
  await screen.findByText('Kiln 1.2.3');
  expect(document.querySelector('article')).toBeNull();
  answer([]);
  await waitFor(() => expect(document.querySelectorAll('article')).toHaveLength(2));
  expect(screen.queryByText(t('providers.attention', { count: 0, all: 0 }))).toBeNull();
});

it('a model says what it takes, as far as it is bounded', () => {
  const none = {
    sizes: null,
    aspectRatios: null,
    durations: null,
    maxPrompt: null,
    maxCount: null,
    maxImages: null,
    formats: null,
  };
  const limits = (change: object) => limitsText({ ...none, ...change } as never);
  expect(limits({})).toBe('');
  expect(
    limits({
      sizes: ['1K', '2K'],
      aspectRatios: ['1:1', '3:2'],
      durations: [5, 10],
      formats: ['png', 'webp'],
      maxCount: 4,
      maxImages: 3,
      maxPrompt: 2_000,
    }),
  ).toBe('1K, 2K · 1:1 3:2 · 5, 10 s · png, webp · up to 4 at once · up to 3 references · 2,000 characters');
});
