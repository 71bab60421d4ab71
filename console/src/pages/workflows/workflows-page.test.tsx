import { screen } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago } from '../../testing/things.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(closeConsole);

const workflow = (id: string, change: Fields = {}): Fields => ({
  id,
  description: `what ${id} does\nand more`,
  category: 'image',
  updatedAt: ago(120),
  ...change,
});

it('lists graphs that were saved, and what each makes', async () => {
  const { askedFor } = await openConsole('/workflows', {
    savedWorkflows: [workflow('poster', { published: 3 }), workflow('odd', { category: 'of its own' })],
  });
  await screen.findByText('poster');
  await expect(outline()).toMatchFileSnapshot('outlines/workflows.txt');
  expect(askedFor('SavedWorkflows')).toEqual([{ first: 100 }]);
});

it.each([
  [true, t('workflows.signIn')],
  [false, t('workflows.noneText')],
] as const)('says that there are none; to a visitor: %s', async (isVisitor, words) => {
  await openConsole('/workflows', { savedWorkflows: [] }, { isVisitor });
  expect(await screen.findByText(words)).toBeDefined();
  expect(screen.queryByText(t('workflows.new')) === null).toBe(isVisitor);
  expect(document.querySelector('[aria-busy]')).toBeNull();
});

it('waits, and says that they cannot be asked', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const savedWorkflows = () => new Promise((resolve) => (answer = resolve));
  const { hasAsked } = await openConsole('/workflows', { savedWorkflows });
  await hasAsked('SavedWorkflows');
  expect(document.querySelectorAll('[aria-busy=true]')).toHaveLength(1);
  expect(screen.queryByText(t('workflows.none'))).toBeNull();
  answer(refusal('UNAVAILABLE'));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(document.querySelector('[aria-busy]')).toBeNull();
  expect(screen.queryByText(t('workflows.none'))).toBeNull();
});
