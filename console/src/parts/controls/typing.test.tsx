import { afterEach, expect, it } from 'vitest';

import { isBusy, setSingleKeys } from './typing.ts';

afterEach(() => {
  setSingleKeys(true);
  document.body.replaceChildren();
});

/** Whether a key that is pressed on an element of this page is left to it. */
function isLeft(page: string, init: KeyboardEventInit = {}): boolean {
  document.body.innerHTML = page;
  let isLeftToIt = false;
  const note = (event: KeyboardEvent) => void (isLeftToIt = isBusy(event));
  document.addEventListener('keydown', note, { once: true });
  const target = document.querySelector('[data-target]') ?? document.body;
  target.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', bubbles: true, ...init }));
  return isLeftToIt;
}

it('single keys rest for who holds a modifier or composes a letter, and for who has turned them off', () => {
  expect(isLeft('<p data-target></p>')).toBe(false);
  for (const held of ['metaKey', 'ctrlKey', 'altKey', 'isComposing'])
    expect(isLeft('<p data-target></p>', { [held]: true })).toBe(true);
  setSingleKeys(false);
  expect(isLeft('<p data-target></p>')).toBe(true);
});

it.each([
  ['types', '<textarea data-target></textarea>', true],
  ['chooses', '<div role="radiogroup"><input type="radio" data-target></div>', true],
  ['ticks', '<input type="checkbox" data-target>', false],
  ['plays a video', '<video data-target></video>', true],
  ['has a dialog open', '<dialog open></dialog><p data-target></p>', true],
  ['has just closed a dialog', '<dialog><button data-target></button></dialog>', false],
  ['is on a button of the page', '<button data-target></button>', false],
])('single keys and who %s', (_, page, isLeftToThem) => {
  expect(isLeft(page)).toBe(isLeftToThem);
});
