import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { daysAgo, execution, payment } from '../../../testing/shop.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../../testing/whole-console.tsx';
import { t } from '../../../text/text.ts';

afterEach(closeConsole);

const attempt = (number: number, change: Fields = {}): Fields => ({
  step: 1,
  number,
  provider: 'gemini',
  model: 'large',
  reference: 'ref',
  state: 'SUCCEEDED',
  startedAt: daysAgo(2),
  endedAt: new Date(Date.parse(daysAgo(2)) + 4_200).toISOString(),
  ...change,
});
const task = (change: Fields = {}): Fields => ({
  id: 'task-one',
  kind: 'IMAGE',
  state: 'SUCCEEDED',
  stageInfo: { code: 'FINISHED', text: 'done' },
  progress: 100,
  lastSeq: 7,
  createdAt: daysAgo(2),
  endedAt: daysAgo(1),
  provider: 'gemini',
  model: 'large',
  traceId: 'trace-one',
  attempts: [],
  ...change,
});
const open = (change: Fields, more: Fields = {}) =>
  openConsole('/shop/executions/task-one', { execution: execution('one', change), ...more });
const tabs = () => document.querySelector('pre');

it('shows what was made, by whom, what it cost, and how programs do the same', async () => {
  const { askedFor, push } = await open(
    {
      parameters: { prompt: "it's a lake", n: 2 },
      task: task({
        outputs: [{ id: 'm1', url: 'https://kiln.test/files/m1', contentType: 'image/png', bytes: 2_048 }],
        attempts: [
          attempt(1, {
            state: 'FAILED',
            model: null,
            error: { code: 'UNAVAILABLE', message: 'away', retryable: true },
          }),
          attempt(2, { provider: 'fal', endedAt: null }),
        ],
      }),
      payment: payment('pay_1', {
        amountRefunded: 250,
        margin: { kept: 750, cost: null, margin: null, estimated: false },
        refunds: [{ id: 'a', amount: 250, reason: null, status: 'pending', createdAt: daysAgo(1) }],
      }),
    },
    ADMINISTRATOR,
  );
  await screen.findByText(t('shop.steps'));
  await expect(outline()).toMatchFileSnapshot('outlines/execution.txt');
  expect(askedFor('ExecutionPage')).toEqual([{ taskId: 'task-one' }]);
  // What has ended is not followed.
  expect(push('executionProgress', {})).toBe(0);
  for (const name of ['REST', 'curl']) {
    fireEvent.click(screen.getByRole('tab', { name }));
    await waitFor(() => expect(tabs()?.textContent).toContain('templates/execute/poster'));
    await expect(`${tabs()?.textContent}\n`).toMatchFileSnapshot(`outlines/program-${name}.txt`);
  }
});

it('refunds its payment for who may', async () => {
  const paid = { payment: payment('pay_1'), task: null };
  await open(paid, ADMINISTRATOR);
  fireEvent.click(await screen.findByText(t('shop.refund')));
  expect(await screen.findByText(t('shop.refundOf', { name: 'The poster' }))).toBeDefined();
  fireEvent.click(screen.getByLabelText(t('dialog.close')));
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  await closeConsole();
  await open(paid);
  await screen.findByText(t('shop.payment'));
  expect(screen.queryByText(t('shop.refund'))).toBeNull();
});

const running = {
  status: 'RUNNING',
  progress: 40,
  endedAt: null,
  parameters: {},
  task: task({
    state: 'RUNNING',
    stageInfo: { code: 'RENDERING', text: 'rendering' },
    endedAt: null,
    provider: null,
    traceId: null,
    attempts: [
      attempt(1, {
        state: 'RUNNING',
        endedAt: null,
        startedAt: new Date(Date.parse(daysAgo(0)) - 5_000).toISOString(),
      }),
    ],
  }),
};

it('follows a run, and asks for its steps again with each new stage', async () => {
  const { askedFor, followedWith, hasAsked, push } = await open(running);
  await screen.findByText(t('shop.steps'));
  await expect(outline()).toMatchFileSnapshot('outlines/execution-running.txt');
  const event = (stage: string, progress: number) => ({
    __typename: 'ExecutionProgress',
    seq: 8,
    status: 'RUNNING',
    stage,
    progress,
    execution: {
      __typename: 'Execution',
      id: 'one',
      status: 'RUNNING',
      progress,
      endedAt: null,
      error: null,
    },
  });
  await waitFor(() => expect(followedWith('executionProgress')).toEqual([{ id: 'one', afterSeq: 7 }]));
  push('executionProgress', event('rendering', 60));
  await hasAsked('ExecutionPage', 2);
  push('executionProgress', event('rendering', 80));
  expect(await screen.findByText('80 %')).toBeDefined();
  expect(askedFor('ExecutionPage')).toHaveLength(2);
  push('executionProgress', event('storing', 90));
  await hasAsked('ExecutionPage', 3);
  // It is followed once, whatever it has moved to.
  expect(followedWith('executionProgress')).toHaveLength(1);
});

it('is cancelled once, as long as it runs', async () => {
  let asked: string | null = null;
  const cancelTask = vi.fn<(asked: object) => Fields>((): Fields => {
    asked = daysAgo(0);
    return { ...running.task, cancelRequestedAt: asked };
  });
  await openConsole('/shop/executions/task-one', {
    execution: () => execution('one', { ...running, task: { ...running.task, cancelRequestedAt: asked } }),
    cancelTask: (given: object) => cancelTask(given),
  });
  const button = await screen.findByText<HTMLButtonElement>(t('task.cancel'));
  expect(button.disabled).toBe(false);
  fireEvent.click(button);
  await waitFor(() => expect(cancelTask.mock.calls).toEqual([[{ id: 'task-one' }]]));
  await waitFor(() => expect(screen.getByText<HTMLButtonElement>(t('task.cancel')).disabled).toBe(true));
});

it('says why it is not cancelled', async () => {
  const cancelTask = () => refusal('TOO_LATE');
  await openConsole('/shop/executions/task-one', { execution: execution('one', running), cancelTask });
  fireEvent.click(await screen.findByText(t('task.cancel')));
  expect((await screen.findByRole('alert')).textContent).not.toBe('');
});

it('waits for its task, which alone can be cancelled', async () => {
  await open({ status: 'PENDING', progress: 0, endedAt: null, userId: null, task: null });
  expect((await screen.findByText<HTMLButtonElement>(t('task.cancel'))).disabled).toBe(true);
  expect(screen.getByText(t('shop.waitsForMedia'))).toBeDefined();
  expect(screen.queryByText(t('shop.steps'))).toBeNull();
  expect(screen.queryByText(t('shop.runsFor'))).toBeNull();
});

it.each(['FAILED', 'CANCELLED'] as const)('has nothing to cancel once it is %s', async (status) => {
  const { push } = await open({ status, error: { code: 'TIMED_OUT', message: 'too late' }, task: task() });
  expect(await screen.findByText('too late')).toBeDefined();
  expect(screen.getByText(t('shop.noSteps'))).toBeDefined();
  expect(screen.queryByText(t('task.cancel'))).toBeNull();
  expect(push('executionProgress', {})).toBe(0);
});

it('says that there is none, and that it cannot be asked', async () => {
  await openConsole('/shop/executions/task-one', { execution: null });
  expect(await screen.findByText(t('shop.executionGone'))).toBeDefined();
  await closeConsole();
  const refused = () => {
    throw refusal('UNAVAILABLE');
  };
  await openConsole('/shop/executions/task-one', { execution: refused });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('waits for what it shows', async () => {
  const { hasAsked } = await openConsole('/shop/executions/task-one', {
    execution: () => new Promise(() => undefined),
  });
  await hasAsked('ExecutionPage');
  await waitFor(() => expect(document.querySelectorAll('main [aria-busy=true]')).toHaveLength(1));
});
