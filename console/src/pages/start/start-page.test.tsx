import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { createTask } from '../../testing/things.ts';
import { ADMINISTRATOR, closeConsole, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { snippets } from './snippets.ts';

afterEach(closeConsole);

const VISITOR = { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null };
const code = () => document.querySelector('[role=tabpanel] pre')?.textContent;
/** What the page has sent besides what the console asks. */
const readRequest = ({ mock }: { readonly mock: { readonly calls: readonly Parameters<typeof fetch>[] } }) =>
  mock.calls.find(([, init]) => JSON.stringify(init?.body).includes('generateImage'))?.[1];
const send = () => screen.getByText<HTMLButtonElement>(t('start.send'));

it('shows the same request in the ways that programs send it', async () => {
  await openConsole('/start', ADMINISTRATOR);
  await waitFor(() => expect(code()).toContain(t('snippet.key')));
  await expect(outline()).toMatchFileSnapshot('outlines/start.txt');
  fireEvent.click(screen.getByRole('tab', { name: 'Python' }));
  await waitFor(() => expect(code()).toContain('import json'));
});

it('takes no key of who needs none, and says where others have theirs from', async () => {
  await openConsole('/start', VISITOR);
  await waitFor(() => expect(code()).not.toContain('KILN_KEY'));
  await closeConsole();
  await openConsole('/start', {});
  await waitFor(() => expect(code()).toContain(t('snippet.keyOfOthers')));
});

it('sends the request as a program would, and leads to what it has started', async () => {
  const { askedFor } = await openConsole('/start', { generateImage: createTask('task-one') });
  const sent = vi.spyOn(globalThis, 'fetch');
  fireEvent.click(await screen.findByText(t('start.send')));
  const link = await screen.findByText(t('start.openTask'));
  expect(link.getAttribute('href')).toBe('/console/tasks/task-one');
  await expect(outline(document.querySelector('section'))).toMatchFileSnapshot('outlines/sent.txt');
  expect(askedFor('')).toHaveLength(1);
  const headers = { 'content-type': 'application/json', authorization: 'Bearer kiln_key' };
  expect(readRequest(sent)).toMatchObject({ method: 'POST', headers });
  await closeConsole();
  await openConsole('/start', { generateImage: createTask('task-one') }, { isVisitor: true });
  const asked = vi.spyOn(globalThis, 'fetch');
  fireEvent.click(await screen.findByText(t('start.send')));
  await screen.findByText(t('start.openTask'));
  expect(readRequest(asked)?.headers).toEqual({ 'content-type': 'application/json' });
});

it('waits for the answer, and shows a refusal as it is', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/start', {
    generateImage: () => new Promise((resolve) => (answer = resolve)),
  });
  fireEvent.click(await screen.findByText(t('start.send')));
  const waiting = await screen.findByText<HTMLButtonElement>(t('start.trying'));
  expect(waiting.disabled).toBe(true);
  await hasAsked('');
  answer(refusal('BUDGET_EXCEEDED'));
  expect(await screen.findByText(/BUDGET_EXCEEDED/)).toBeDefined();
  expect(screen.queryByText(t('start.openTask'))).toBeNull();
  await waitFor(() => expect(send().disabled).toBe(false));
});

it('says that the server cannot be reached, until it answers', async () => {
  await openConsole('/start', { generateImage: createTask('task-one') });
  await screen.findByText(t('start.send'));
  const reached = globalThis.fetch;
  globalThis.fetch = async () => {
    throw new TypeError('fetch failed');
  };
  fireEvent.click(send());
  expect(await screen.findByText(t('problem.unreachable'))).toBeDefined();
  expect(screen.queryByText(t('start.answer'))).toBeNull();
  globalThis.fetch = reached;
  await waitFor(() => expect(send().disabled).toBe(false));
  fireEvent.click(send());
  expect(await screen.findByText(t('start.answer'))).toBeDefined();
  expect(screen.queryByText(t('problem.unreachable'))).toBeNull();
});

it.each([
  ['here', 'http://127.0.0.1:4000/graphql', true, true],
  ['away', 'https://kiln.test/graphql', false, false],
  ['away-by-others', 'https://kiln.test/graphql', true, false],
] as const)('writes programs that can be run as they stand: %s', async (name, url, needsKey, mayMakeKeys) => {
  const all = snippets({ graphqlUrl: url, socketUrl: url.replace('http', 'ws'), needsKey, mayMakeKeys });
  const text = all.map(({ title, code: lines }) => `=== ${title}\n${lines}\n`).join('\n');
  await expect(text).toMatchFileSnapshot(`outlines/snippets-${name}.txt`);
});

it.each([
  ['http://localhost:4000/graphql', true],
  ['http://[::1]:4000/graphql', true],
  ['https://localhost.example.com/graphql', false],
])('has a receiver of webhooks on this machine for a Kiln on it: %s', (graphqlUrl, isHere) => {
  const all = snippets({ graphqlUrl, socketUrl: '', needsKey: false, mayMakeKeys: false });
  expect(all.at(-1)?.code.includes('OUTBOUND_ALLOW')).toBe(isHere);
});
