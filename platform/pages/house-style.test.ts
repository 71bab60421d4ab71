import { expect, it } from 'vitest';

import { DARK, houseBar, HOUSE_COLOURS, LIGHT } from './house-style.ts';

/** Relative luminance of #rrggbb, as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

it.each([
  ['light', LIGHT],
  ['dark', DARK],
])('can be read in the %s theme', (_, colours) => {
  for (const [name, colour] of Object.entries(colours))
    expect([name, colour]).toEqual([name, expect.stringMatching(/^#[\da-f]{6}$/)]);
  const { bg, surface, hover, text, dim, link, ink, strong, line } = colours;
  for (const below of [bg, surface, hover])
    for (const above of [text, dim, link]) expect(contrast(above, below)).toBeGreaterThan(4.5);
  expect(contrast(ink, colours['on-ink'])).toBeGreaterThan(4.5);
  // What bounds a control, and what only divides.
  expect(contrast(strong, surface)).toBeGreaterThan(3);
  expect(contrast(line, surface)).toBeGreaterThan(1.2);
});

it('has its colours as variables, the dark ones where a browser asks for them', () => {
  expect(HOUSE_COLOURS).toContain(
    `:root{color-scheme:light dark;--bg:${LIGHT.bg};--surface:${LIGHT.surface};`,
  );
  expect(HOUSE_COLOURS).toContain(`@media(prefers-color-scheme:dark){:root{--bg:${DARK.bg};`);
  expect(HOUSE_COLOURS).toContain(`--link:${DARK.link}}}`);
});

it('shows a way back where there is one', () => {
  expect(houseBar('Kiln')).toMatch(/<span>Kiln<\/span><\/header>$/);
  expect(houseBar('Kiln', { href: '/x', label: 'back' })).toContain(
    '<a class="back" href="/x">back</a></header>',
  );
});
