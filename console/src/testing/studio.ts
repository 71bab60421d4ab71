import { act, fireEvent, screen } from '@testing-library/preact';
import { vi } from 'vitest';

import type { Batch } from '../work/batches.ts';
import { WORK, type WorkKind } from '../work/kinds.ts';
import type { Tab } from '../work/work.ts';
import { ago, createFile, createList, createModel, createTask } from './things.ts';
import { type Fields, NOW, openConsole } from './whole-console.tsx';

let callers = 0;

/**
 * Opens the console over a server with what the Studio asks of it. Each time by somebody new: what a browser keeps of forms and
 * results is kept for each account.
 */
export function openStudio(
  address: string,
  root: Fields,
  options: Parameters<typeof openConsole>[2] = {},
): ReturnType<typeof openConsole> {
  callers += 1;
  const who = { id: `usr_${callers}`, kind: 'USER', mayStart: true, mayRunUnpaid: true };
  const server = {
    caller: who,
    viewer: { id: who.id, name: 'Ada' },
    estimateCost: { amount: 0.04, currency: 'USD', estimated: true },
    checkPrompt: { allowed: true, reasons: [] },
    myBudgets: [],
    voices: [],
    comfyWorkflows: [],
    conversations: [],
    findModels: [],
    tasks: createList([]),
    task: ({ id }: { readonly id: string }) => aTask(id),
    ...root,
  };
  return openConsole(address, server, options);
}

/** A model that makes images for four cents each, and may be started. */
export const aModel = (id: string, change: Fields = {}): Fields =>
  createModel({
    id,
    model: id,
    name: `Model ${id}`,
    generator: 'painter',
    inputs: ['prompt', 'count'],
    prices: { currency: 'USD', prices: [{ unit: 'picture', amount: 0.04, per: 1 }] },
    ...change,
  });

/** A model that takes everything that its kind of work has. */
export const modelFor = (kind: WorkKind, change: Fields = {}): Fields =>
  aModel(`of ${kind}`, { kinds: [kind], inputs: WORK[kind].members, ...change });

/** Opens the form of a kind of work, all of it. */
export async function openForm(tab: Tab, models: readonly Fields[], root: Fields = {}) {
  const opened = await openStudio(`/?kind=${tab}`, { models, ...root });
  await screen.findByRole('button', { name: 'As code' });
  return opened;
}

/** A task that has made one image in thirty seconds, for four cents. */
export const aTask = (id: string, change: Fields = {}): Fields =>
  createTask(id, {
    generator: 'painter',
    cost: { amount: 0.04, currency: 'USD', estimated: false },
    outputs: [createFile(`file-${id}`)],
    ...change,
  });

/** A submission of before, of a visitor: everybody sees it. */
export const aBatch = (id: string, change: Partial<Batch> = {}): Batch => ({
  id,
  owner: 'anon',
  kind: 'IMAGE',
  generator: 'painter',
  model: 'large',
  modelName: 'Model large',
  values: { prompt: `a lake, ${id}` },
  tasks: [id],
  at: ago(60),
  ...change,
});

/** What this browser has made, as another tab of it says. */
export function keepBatches(batches: readonly Batch[]): void {
  localStorage.setItem('kiln.batches', JSON.stringify(batches));
  void act(() => void dispatchEvent(new StorageEvent('storage', { key: 'kiln.batches' })));
}

/** Collects the arguments that a field is asked with, and answers them all by `answer`. */
export function collects(answer: (count: number) => unknown) {
  const given: Fields[] = [];
  const field = (args: Fields) => {
    given.push({ ...args });
    return answer(given.length);
  };
  return { given, field };
}

/** Lets a pause go by that is part of what is tested, such as the one after which typed words are asked about. */
export async function afterPause(ms: number, action: () => unknown = () => undefined): Promise<void> {
  vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  try {
    // What it changes is drawn before the pause begins.
    await act(async () => void (await action()));
    await act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  } finally {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  }
}

/** Types into the field of this name. */
export const type = (label: string | RegExp, value: string): void =>
  void fireEvent.input(screen.getByLabelText(label), { target: { value } });

/** The texts of all that a selector finds. */
export const readTexts = (selector: string): readonly string[] =>
  [...document.querySelectorAll(selector)].map(({ textContent }) => textContent ?? '');
