import { expect, test } from 'vitest';

import { invalidParameter, parsePrompt } from './prompt.ts';

test('takes the parameters out of the prompt', () => {
  expect(parsePrompt('a red  boat --ar 16:9 --seed 7 --no people, cars')).toEqual({
    text: 'a red  boat',
    aspectRatio: '16:9',
    seed: 7,
    parameters: { ar: '16:9', seed: '7', no: 'people, cars' },
  });
});

test('draws a square where no ratio is asked for', () => {
  expect(parsePrompt('a boat')).toMatchObject({ text: 'a boat', aspectRatio: '1:1', seed: null });
});

test('leaves dashes within the text alone', () => {
  expect(parsePrompt('a well-known boat -- at sea').text).toBe('a well-known boat -- at sea');
});

test('refuses a ratio that is none', () => {
  expect(invalidParameter(parsePrompt('a boat --ar wide'))).toContain('--ar');
  expect(invalidParameter(parsePrompt('a boat --ar 0:9'))).toContain('--ar');
  expect(invalidParameter(parsePrompt('a boat --ar 9:16'))).toBeNull();
});
