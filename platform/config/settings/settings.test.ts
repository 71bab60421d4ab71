import { expect, it } from 'vitest';

import { settings } from './settings.ts';

/** What no setting but a text can be. */
const WRONG = ' = ; ,|';

it('knows these settings, with these defaults and these remedies for what is wrong', async () => {
  const lines = Object.entries(settings).map(([name, { schema, default: standard, fallback, ...more }]) => {
    const { error } = schema.safeParse(WRONG);
    const remedies = error?.issues.map(({ message }) => message).join('; ') ?? 'anything';
    const value = fallback === null ? `(unset: ${standard})` : JSON.stringify(fallback);
    return `${name} ${value}${more.isReal === true ? ', real' : ''}: ${remedies}`;
  });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('settings.txt');
});

it('parses every default, and takes the bounds that it names', () => {
  const wrong = Object.entries(settings).flatMap(([name, { schema, fallback }]) => {
    const takes = (value: string | null) => value === null || schema.safeParse(value).success;
    const [remedy] = schema.safeParse(WRONG).error?.issues ?? [];
    const [, least = null, most = null] =
      /^must be a whole number from (\d+) to (\d+)$/.exec(remedy?.message ?? '') ?? [];
    const isBounded = most === null || !takes(String(Number(most) + 1));
    return takes(fallback) && takes(least) && takes(most) && isBounded ? [] : [name];
  });
  expect(wrong).toEqual([]);
});
