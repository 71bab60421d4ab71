import { render } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../testing/outline.ts';
import { Icon, type IconName, Mark } from './icons.tsx';

afterEach(() => document.body.replaceChildren());

const NAMES: readonly IconName[] = [
  'search',
  'studio',
  'gallery',
  'tasks',
  'shop',
  'models',
  'usage',
  'keys',
  'start',
  'sun',
  'down',
  'left',
  'right',
  'menu',
  'image',
  'video',
  'speech',
  'lipsync',
  'avatar',
  'comfy',
  'machine',
  'analysis',
  'chat',
  'filter',
  'share',
  'plus',
  'minus',
  'close',
  'check',
  'again',
  'edit',
  'remix',
  'download',
  'input',
  'trash',
  'copy',
  'play',
  'zoom',
  'compare',
  'grid',
  'star',
  'board',
  'vary',
  'more',
  'warning',
];

it('each icon has its lines', async () => {
  render(
    <>
      {NAMES.map((name) => (
        <Icon key={name} name={name} />
      ))}
    </>,
  );
  const lines = [...document.querySelectorAll('path')].map(
    (one, at) => `${NAMES[at]}: ${one.getAttribute('d')}`,
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('outlines/icons.txt');
});

it('an icon is as large as is said, and read out by nobody', async () => {
  render(
    <>
      <Icon name="close" />
      <Icon name="close" size={24} />
      <Mark />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/icon-sizes.txt');
  const { strokeWidth, stroke, fill } = Object.fromEntries(
    ['strokeWidth', 'stroke', 'fill'].map((name) => [
      name,
      document.querySelector('svg')?.getAttribute(name === 'strokeWidth' ? 'stroke-width' : name),
    ]),
  );
  expect([strokeWidth, stroke, fill]).toEqual(['1.75', 'currentColor', 'none']);
});
